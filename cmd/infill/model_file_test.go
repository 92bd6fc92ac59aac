package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of a folder of the hub is named by its path, or beside the folder. Of several none is taken
// without a name.
func TestModelFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "hub")
	if err := os.CopyFS(dir, os.DirFS(tinyModel)); err != nil {
		t.Fatal(err)
	}
	data := get(t, filepath.Join(dir, "model.onnx"))
	if err := os.Remove(filepath.Join(dir, "model.onnx")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "onnx"), 0o755); err != nil {
		t.Fatal(err)
	}
	fill := func(args ...string) outcome {
		return infillRun("", append([]string{"fill", "--json", "the [MASK] sleeps ."}, args...)...)
	}
	want := fill("--model", tinyModel).out
	own := put(t, filepath.Join(dir, "onnx", "model_fp16.onnx"), data)
	same := func(args ...string) {
		t.Helper()
		if r := fill(args...); r.code != 0 || r.out != want {
			t.Errorf("%q: exit %d: %s%s", args, r.code, r.out, r.err)
		}
	}
	same("--model", dir)
	put(t, filepath.Join(dir, "onnx", "model_int8.onnx"), data)
	same("--model", own)
	same("--model", dir, "--model-file", "onnx/model_fp16.onnx")
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitTrouble, "onnx/model_fp16.onnx, onnx/model_int8.onnx; name one", []string{"--model", dir}},
		{exitTrouble, "the folder has no onnx/x.onnx, but", []string{"--model", dir, "--model-file",
			"onnx/x.onnx"}},
		{exitUsage, "two files", []string{"--model", own, "--model-file", "onnx/model_int8.onnx"}},
	} {
		if r := fill(c.args...); r.code != c.code || !strings.Contains(r.err, c.says) {
			t.Errorf("%q: exit %d: %s", c.args, r.code, r.err)
		}
	}
	r := infillRun("", "model", "info", "--model-file", "onnx/model_int8.onnx", dir)
	if r.code != 0 || !strings.Contains(r.out, "onnx/model_int8.onnx, ") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}
