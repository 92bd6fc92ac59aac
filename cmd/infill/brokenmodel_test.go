package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is wrong with a file of a model says in which folder the file is, as it was named.
func TestBrokenModelIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.txt"), "the [MASK] sleeps .\n")
	for name, c := range map[string]struct {
		file, data string // data "": the file is missing
		says       string
	}{
		"garbage":  {"model.onnx", "hello", "model.onnx: not a readable onnx model"},
		"no model": {"model.onnx", "", "no model: the folder has no model.onnx"},
		"no words": {"vocab.txt", "", "vocab.txt: no vocabulary"},
		"few words": {"vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n",
			"model.onnx: vocabulary does not fit"},
		"tokenizer":   {"tokenizer.json", "{", "tokenizer.json:1: malformed"},
		"config":      {"config.json", "{", "no model: config.json: it ends too early"},
		"no weights":  {"", "", "model.onnx: bad external data"},
		"cut weights": {"", "x", "model.onnx: bad external data"},
	} {
		folder := filepath.Join(dir, name)
		from := tinyModel
		if c.file == "" { // weights in a file of their own
			from, c.file = "../../models/small", "model.stored.safetensors"
		}
		if err := os.CopyFS(folder, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, c.file)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if c.data != "" {
			put(t, path, c.data)
		}
		named := []string{folder}
		if name != "no model" {
			named = append(named, filepath.Join(folder, "model.onnx"))
		}
		for _, model := range named {
			for _, args := range [][]string{{"fill", "the [MASK] sleeps ."}, {"compare", in}} {
				r := infillRun("", append(args, "--quiet", "--steps", "1", "--model", model)...)
				if r.code == exitOK || !strings.HasPrefix(r.err, "infill: "+folder+": "+c.says) {
					t.Errorf("%s: %s --model %s: exit %d, %s", name, args[0], model, r.code, r.err)
				}
			}
		}
		r := infillRun("", withTiny("compare", in, "--quiet", "--steps", "1", "--judge", folder)...)
		if !strings.HasPrefix(r.err, "infill: --judge: "+folder+": "+c.says) {
			t.Errorf("%s: --judge: exit %d, %s", name, r.code, r.err)
		}
	}
}
