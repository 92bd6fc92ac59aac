package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"infill/mlm/onnx"
)

// TestForwardOpens: the commands open a model without the backward pass where the settings need
// none. The graph that they leave in the cache shows it.
func TestForwardOpens(t *testing.T) {
	dir := largeTiny(t)
	words := filepath.Join(t.TempDir(), "words.txt")
	put(t, words, "dog\n")
	second := "model:" + tinyModel + "=1"
	const text, line = "the [MASK] sleeps in the [MASK] .", `{"text":"the [MASK] sleeps ."}`
	for _, c := range []struct {
		stdin string
		args  []string
		want  bool // a backward pass
	}{
		{"", []string{"fill", text}, false},
		{"", []string{"fill", "--sampler", "gibbs-mh", text}, false},
		{"", []string{"fill", "--sampler", "dmala", text}, true},
		{"", []string{"fill", "--sampler", "dmala", "--gradient", "forward", text}, false},
		{"", []string{"fill", "--energy", "words:" + words + "=1", text}, true},
		{"", []string{"fill", "--low-memory", text}, false},
		{text, []string{"batch", "-"}, false},
		{text, []string{"batch", "--sampler", "dmala", "-"}, true},
		{line, []string{"batch", "--format", "jsonl", "-"}, false}, // until a line needs it
		{line, []string{"batch", "--format", "jsonl", "--sampler", "dmala", "-"}, true},
		{"", []string{"score", "the dog sleeps ."}, false},
		{"", []string{"score", "--energy", "words:" + words + "=1", "the dog sleeps ."}, false},
		{"", []string{"score", "--energy", second, "the dog sleeps ."}, false},
	} {
		cache := newCache(t)
		args := append([]string{c.args[0], "--model", dir}, c.args[1:]...)
		if c.args[0] == "fill" || c.args[0] == "batch" {
			args = append(args[:3:3], append([]string{"--chains", "2", "--steps", "2", "--seed", "1"},
				args[3:]...)...)
		}
		if r := infillRun(c.stdin, args...); r.code != 0 {
			t.Fatalf("%q: exit %d: %s", c.args, r.code, r.err)
		}
		list, err := filepath.Glob(filepath.Join(cache, "graphs", "*.graph"))
		if err != nil || len(list) != 1 {
			t.Fatalf("%q: graphs %v (%v)", c.args, list, err)
		}
		b, err := os.ReadFile(list[0])
		with, without := bytes.Contains(b, []byte(`"Gradient":true`)),
			bytes.Contains(b, []byte(`"Gradient":false`))
		if err != nil || with == without || with != c.want {
			t.Errorf("%q: with the backward pass %v, without %v, want it %v (%v)", c.args, with, without,
				c.want, err)
		}
	}
}

// largeTiny is the tiny model with a weight that nothing reads, so that its graph is worth caching.
func largeTiny(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(tinyModel)); err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Load(os.DirFS(dir), "model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	const n = 32 << 20
	m.Graph.Initializers = append(m.Graph.Initializers, onnx.NewTensor("unused", onnx.Float,
		[]int64{n / 4}, make([]byte, n)))
	data, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "model.onnx"), string(data))
	return dir
}

// TestOneBlank: a text that takes one row is found by its marks alone.
func TestOneBlank(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"the [MASK] sleeps .": true, "the ___ sleeps .": true,
		"the _____ sleeps .": true, "the cat sleeps .": false, "the [MASK] and the [MASK] .": false,
		"the ___ and the [MASK] .": false, "the [MASK*2] sleeps .": false, "the [MASK:a] .": false,
		"the [MASK|cat|big dog] .": false, "snake_case [MASK]": true} {
		if oneBlank(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
