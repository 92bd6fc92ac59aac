package tokenize

import (
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"infill/internal/testmode"
)

// folder is a model's folder in memory.
func folder(files map[string]string) fstest.MapFS {
	m := make(fstest.MapFS)
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

// sharedTokenizer loads a public vocabulary from the shared data.
func sharedTokenizer(t testing.TB, name string) *Tokenizer {
	t.Helper()
	data, err := os.ReadFile(testmode.Shared(t, "data", "tokenize", name+"-vocab.txt"))
	if err != nil {
		t.Fatal(err)
	}
	tok, err := Load(folder(map[string]string{vocabFile: string(data)}))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// testdata is a folder in testdata.
func testdata(name string) fs.FS { return os.DirFS("testdata/" + name) }

// readVocab reads the bytes of a vocab.txt as Load does.
func readVocab(data []byte, name string) ([]string, error) {
	if err := checkText(name, data); err != nil {
		return nil, err
	}
	return parseVocab(data, name)
}
