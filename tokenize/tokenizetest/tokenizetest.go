// Package tokenizetest opens the tokenizers that tests of several packages share.
package tokenizetest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"infill/internal/testmode"
	"infill/models"
	"infill/tokenize"
)

// Tiny is the tokenizer of the model of eighty words.
func Tiny(t testing.TB) *tokenize.Tokenizer {
	t.Helper()
	return load(t, folder(t, "tiny-bert"))
}

// Small is the tokenizer of the program's model small.
func Small(t testing.TB) *tokenize.Tokenizer {
	t.Helper()
	return load(t, models.Small())
}

// Chinese is the tokenizer of the model of a few Chinese sentences, whose characters are words.
func Chinese(t testing.TB) *tokenize.Tokenizer {
	t.Helper()
	return load(t, folder(t, "tiny-chinese"))
}

// Joined is the same, but that characters beside each other are one word.
func Joined(t testing.TB) *tokenize.Tokenizer {
	t.Helper()
	return load(t, folder(t, "tiny-chinese", "joined"))
}

// MarkedNames are architectures whose vocabularies mark spaces.
var MarkedNames = []string{"roberta", "modernbert", "albert", "deberta-v2"}

// Marked is the tokenizer of one of MarkedNames.
func Marked(t testing.TB, name string) *tokenize.Tokenizer {
	t.Helper()
	return load(t, folder(t, "architectures", name))
}

// Of is a WordPiece tokenizer of some pieces in the order of their ids, as vocab.txt has them.
func Of(t testing.TB, cased bool, pieces ...string) *tokenize.Tokenizer {
	t.Helper()
	return load(t, fstest.MapFS{
		"vocab.txt":             {Data: []byte(strings.Join(pieces, "\n"))},
		"tokenizer_config.json": {Data: fmt.Appendf(nil, `{"do_lower_case": %v}`, !cased)},
	})
}

// folder is one of mlm/testdata.
func folder(t testing.TB, parts ...string) fs.FS {
	t.Helper()
	parts = append([]string{testmode.Root(t), "mlm", "testdata"}, parts...)
	return os.DirFS(filepath.Join(parts...))
}

func load(t testing.TB, files fs.FS) *tokenize.Tokenizer {
	t.Helper()
	tok, err := tokenize.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}
