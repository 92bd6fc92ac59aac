package text

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
