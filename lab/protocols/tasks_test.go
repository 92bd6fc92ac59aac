package protocols

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Of two files the first sentences of a length are taken, and their words are masked.
func TestTasks(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.txt"), filepath.Join(dir, "b.txt")
	for path, text := range map[string]string{
		a: "short\nthe man sat down on the chair\nthe cat ran up to the tree\nshe saw it at the door\n",
		b: "he gave her a cup of tea\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j := job{data: a + "," + b, vocab: "words", words: "6-8", limit: 2, rate: .25}
	m, err := j.open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	tasks, err := j.tasks(m.Tokenizer())
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, task := range tasks {
		ids = append(ids, task.id)
		if n := len(task.template.Blanks); n != 2 || task.gold == "" {
			t.Errorf("%s has %d blanks and the gold sentence %q", task.id, n, task.gold)
		}
	}
	if want := []string{"a.txt:2", "a.txt:3", "b.txt:1"}; !slices.Equal(ids, want) {
		t.Errorf("sentences %q, want %q", ids, want)
	}
	if j.dataName() != "a.txt, b.txt" {
		t.Errorf("the data are called %q", j.dataName())
	}
	for _, words := range []string{"x", "8-6", "100-200"} {
		j.words = words
		if _, err := j.tasks(m.Tokenizer()); err == nil || !strings.Contains(err.Error(), "-words") {
			t.Errorf("-words %s: %v", words, err)
		}
	}
}

// Seeds are counted from 1 on, or from the first that is named.
func TestSeedNumbers(t *testing.T) {
	for seeds, want := range map[string][]uint64{
		"1": {1}, "3": {1, 2, 3}, "2-5": {2, 3, 4, 5}, "4-4": {4},
		"": nil, "0": nil, "x": nil, "5-2": nil, "0-3": nil, "2-": nil, "-2": nil, "1-2-3": nil,
	} {
		got, err := (&job{seeds: seeds}).seedNumbers()
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("-seeds %q: %v, %v, want %v", seeds, got, err, want)
		}
	}
}
