package mlm_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/internal/ort/orttest"
	"infill/mlm"
)

// hubFolder is a folder as repositories of the hub are: the tokenizer in it, one model under
// several names in its folder onnx.
func hubFolder(t *testing.T, names ...string) string {
	t.Helper()
	dir := exportFolder(t, "bert", "bert-sdpa-tied")
	data, err := os.ReadFile(filepath.Join(dir, "model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(os.Remove(filepath.Join(dir, "model.onnx")),
		os.Mkdir(filepath.Join(dir, "onnx"), 0o755))
	for _, name := range names {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, "onnx", name), data, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// The only export of a folder is taken, whatever its name. Of several the error names them, and
// each can be named.
func TestExportsOfTheHub(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	opened := func(dir, file string) (string, error) {
		m, err := mlm.OpenDir(t.Context(), dir, mlm.Options{File: file})
		if err != nil {
			return "", err
		}
		defer func() { _ = m.Close() }()
		return m.Info().File, nil
	}
	for _, name := range []string{"model_quantized.onnx", "model_fp16.onnx", "model_q4f16.onnx"} {
		if got, err := opened(hubFolder(t, name), ""); err != nil || got != "onnx/"+name {
			t.Errorf("%s: opened %q, %v", name, got, err)
		}
	}
	dir := hubFolder(t, "model_fp16.onnx", "model_int8.onnx", "model_uint8.onnx")
	for _, file := range []string{"", "model_q4.onnx"} {
		_, err := opened(dir, file)
		if !errors.Is(err, mlm.ErrNoModel) || !strings.Contains(err.Error(), "onnx/model_fp16.onnx, "+
			"onnx/model_int8.onnx, onnx/model_uint8.onnx; name one of them") {
			t.Errorf("file %q: %v", file, err)
		}
	}
	if got, err := opened(dir, "onnx/model_int8.onnx"); err != nil || got != "onnx/model_int8.onnx" {
		t.Errorf("opened %q, %v", got, err)
	}
	if _, err := opened(hubFolder(t), ""); !errors.Is(err, mlm.ErrNoModel) ||
		!strings.Contains(err.Error(), "the folder has no model.onnx and no onnx/model.onnx; give") {
		t.Errorf("%v", err)
	}
}

// A file's folder is the one with its tokenizer, also if that is the one above.
func TestLocate(t *testing.T) {
	hub := hubFolder(t, "model.onnx", "model_q4.onnx")
	flat := exportFolder(t, "bert", "bert-sdpa-tied")
	below := filepath.Join(flat, "onnx") // a folder of its own, of that name
	if err := os.CopyFS(below, os.DirFS(exportFolder(t, "bert", "bert-sdpa-tied"))); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(hub, "other")
	if err := os.CopyFS(other, os.DirFS(filepath.Join(hub, "onnx"))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][2]string{
		hub:                                      {hub, ""},
		filepath.Join(hub, "onnx"):               {filepath.Join(hub, "onnx"), ""},
		filepath.Join(hub, "onnx/model.onnx"):    {hub, "onnx/model.onnx"},
		filepath.Join(hub, "onnx/model_q4.onnx"): {hub, "onnx/model_q4.onnx"},
		filepath.Join(other, "model.onnx"):       {other, "model.onnx"},
		filepath.Join(flat, "model.onnx"):        {flat, "model.onnx"},
		filepath.Join(below, "model.onnx"):       {below, "model.onnx"},
	} {
		if dir, file, err := mlm.Locate(path); err != nil || dir != want[0] || file != want[1] {
			t.Errorf("%s: %q and %q, %v, want %q", path, dir, file, err, want)
		}
	}
	if _, _, err := mlm.Locate(filepath.Join(hub, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	t.Chdir(filepath.Join(hub, "onnx"))
	if dir, file, err := mlm.Locate("model_q4.onnx"); err != nil || dir != ".." ||
		file != "onnx/model_q4.onnx" {
		t.Errorf("%q and %q, %v", dir, file, err)
	}
}
