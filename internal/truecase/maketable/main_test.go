package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A name, a word without capitals, a word of both kinds, and an accent.
func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	corpus := write("corpus", strings.Repeat("They came to France in May and they may come again.\n"+
		"May is not counted at the start. \"France\" is not counted in quotes.\n"+
		"In summer the town of São Borja, they say, is full.\n"+
		"THEY ALL SHOUT IN FRANCE\n", 40))
	vocab := write("vocab", "france\nmay\nthey\ncame\nsao\n")
	var out bytes.Buffer
	if err := run(&out, corpus, vocab); err != nil {
		t.Fatal(err)
	}
	want := "Borja\nFrance\nMay +<in +>and\nSao\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	if err := run(&out, filepath.Join(dir, "nowhere"), vocab); err == nil {
		t.Error("a corpus that is not there is no error")
	}
}
