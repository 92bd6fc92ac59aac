package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A pulled model whose graph was changed is refused, though its weights are in a file beside it, by
// its name, by its folder and by its file. So it is with what does not belong to the model.
func TestChangedModelIsRefused(t *testing.T) {
	hubOf(t, filepath.Join("..", "..", "models", "small"), "model.onnx", "model.stored.safetensors",
		"vocab.txt", "config.json", "tokenizer_config.json")
	fill := func(model string) outcome {
		return infillRun("", "fill", "--model", model, "--seed", "1", "--steps", "1",
			"the [MASK] sleeps .")
	}
	for _, name := range []string{"o/tiny"} {
		r := infillRun("", "model", "pull", "--quiet", name)
		if r.code != 0 {
			t.Fatal(r.err)
		}
		folder := strings.TrimSpace(r.out)
		file := filepath.Join(folder, "model.onnx")
		ways := []string{name, folder, file}
		for _, model := range ways {
			if r := fill(model); r.code != 0 {
				t.Errorf("%s as it was pulled: exit %d: %s", model, r.code, r.err)
			}
		}
		whole := get(t, file)
		put(t, file, strings.Replace(whole, "pytorch", "PyTorch", 1))
		for _, model := range ways {
			if r := fill(model); r.code != exitTrouble || r.out != "" ||
				!strings.Contains(r.err, "model.onnx: the file is not the one that was expected") ||
				!strings.Contains(r.err, "infill model pull "+name) {
				t.Errorf("%s, changed: exit %d: %s%s", model, r.code, r.out, r.err)
			}
		}
		// A copy elsewhere is its owner's own.
		own := filepath.Join(t.TempDir(), "own")
		if err := os.CopyFS(own, os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
		if r := fill(own); r.code != 0 {
			t.Errorf("a copy: exit %d: %s", r.code, r.err)
		}
		put(t, file, whole)
		if r := fill(folder); r.code != 0 {
			t.Errorf("%s as it was again: exit %d: %s", folder, r.code, r.err)
		}
	}
}

// A file that takes the place of the model's own because of its name is refused, too. One that is
// named is what was asked for.
func TestModelThatDoesNotBelong(t *testing.T) {
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(tinyModel)); err != nil {
		t.Fatal(err)
	}
	data := get(t, filepath.Join(folder, "model.onnx"))
	if err := os.Mkdir(filepath.Join(folder, "onnx"), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(folder, "onnx", "model.onnx"), data)
	hubOf(t, folder, "onnx/model.onnx", "vocab.txt", "config.json", "tokenizer_config.json")
	r := infillRun("", "model", "pull", "--quiet", "o/tiny")
	if r.code != 0 {
		t.Fatal(r.err)
	}
	folder = strings.TrimSpace(r.out)
	if r := infillRun("", "model", "info", folder); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	own := put(t, filepath.Join(folder, "model.onnx"), data)
	for _, model := range []string{"o/tiny", folder} {
		if r := infillRun("", "model", "info", model); r.code != exitTrouble ||
			!strings.Contains(r.err, "not a file of the model o/tiny: infill model pull o/tiny") {
			t.Errorf("%s: exit %d: %s", model, r.code, r.err)
		}
	}
	if r := infillRun("", "model", "info", own); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
