package infill

import (
	"context"
	"os"
	"sync"
	"testing"

	"infill/mlm"
	"infill/models"
	"infill/tokenize"
)

const tinyFolder = "../mlm/testdata/tiny-bert"

func tinyTokenizer(t testing.TB) *tokenize.Tokenizer {
	t.Helper()
	tok, err := tokenize.Load(os.DirFS(tinyFolder))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// smallModel is shared by the tests that only ask it.
var smallModel = sync.OnceValues(func() (*mlm.Model, error) {
	return mlm.Open(context.Background(), models.Small(), mlm.Options{Threads: 2})
})

func openSmall(t testing.TB) *mlm.Model {
	t.Helper()
	m, err := smallModel()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// markedTokenizers are of vocabularies that mark spaces.
var markedTokenizers = []string{"roberta", "modernbert", "albert", "deberta-v2"}

func markedTokenizer(t testing.TB, name string) *tokenize.Tokenizer {
	t.Helper()
	tok, err := tokenize.Load(os.DirFS("../mlm/testdata/architectures/" + name))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}
