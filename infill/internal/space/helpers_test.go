package space

import (
	"os"
	"testing"

	"infill/models"
	"infill/tokenize"
)

const tinyFolder = "../../../mlm/testdata/tiny-bert"

func tinyTokenizer(t testing.TB) *tokenize.Tokenizer {
	t.Helper()
	tok, err := tokenize.Load(os.DirFS(tinyFolder))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// smallTokenizer is that of the program's small model.
func smallTokenizer(t testing.TB) *tokenize.Tokenizer {
	t.Helper()
	tok, err := tokenize.Load(models.Small())
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// markedTokenizers are of vocabularies that mark spaces.
var markedTokenizers = []string{"roberta", "modernbert", "albert", "deberta-v2"}

func markedTokenizer(t testing.TB, name string) *tokenize.Tokenizer {
	t.Helper()
	tok, err := tokenize.Load(os.DirFS("../../../mlm/testdata/architectures/" + name))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}
