package testmode

import (
	"os"
	"path/filepath"
	"testing"
)

// sharedEnv is the variable that names the folder of the shared data. Variables of flags begin with
// INFILL_, and score has a flag --shared.
const sharedEnv = "TEST_INFILL_SHARED"

// Shared returns the path of a file or folder of the shared data: corpora and
// expected values that are too large for the repository or not ours to publish.
// They lie in the folder that TEST_INFILL_SHARED names, or else in the folder shared
// beside the repository. Shared skips the test if the file is missing.
func Shared(t testing.TB, parts ...string) string {
	t.Helper()
	root := os.Getenv(sharedEnv)
	if root == "" {
		root = filepath.Join(Root(t), "..", "shared")
	}
	name := filepath.Join(append([]string{root}, parts...)...)
	if _, err := os.Stat(name); err != nil {
		Missing(t, name+" (set "+sharedEnv+" to the folder of the shared data)")
	}
	return name
}

// bertEnv is the variable that names the folder of the real BERT-base.
const bertEnv = "INFILL_BERT_BASE"

// BERTBase returns the folder of BERT-base uncased, exported to ONNX, that INFILL_BERT_BASE names.
// It skips the test if the variable is not set.
func BERTBase(t testing.TB) string {
	t.Helper()
	dir := os.Getenv(bertEnv)
	if dir == "" {
		Missing(t, "BERT-base uncased, exported to ONNX ("+bertEnv+" names the folder)")
	}
	return dir
}

// Root returns the folder of the repository: the nearest one above the working folder that holds
// the command. Modules within the repository have a go.mod of their own.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "cmd", "infill", "main.go")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			t.Fatal("no folder above the working folder holds cmd/infill")
		}
		dir = above
	}
}
