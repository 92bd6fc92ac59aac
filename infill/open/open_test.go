package open_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"infill/infill"
	"infill/infill/open"
	"infill/infill/text"
	"infill/internal/ort/orttest"
	"infill/mlm"
	"infill/models/hub"
	"infill/models/hub/hubtest"
)

const (
	openFolder = "../../mlm/testdata/tiny-bert"
	openText   = "the [MASK] sleeps ."
)

// fillings are the fillings of a text, by an engine that the test opens.
func fillings(t *testing.T, name string) []infill.Filling {
	t.Helper()
	e, err := open.Engine(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	r, err := e.FillText(t.Context(), openText, infill.Options{})
	if err = errors.Join(err, e.Close()); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r.Fillings
}

// A folder, a file, and a model of the hub that was pulled are opened by their names, and give what
// the long way gives.
func TestOpen(t *testing.T) {
	lib := orttest.Load(t)
	folder, err := filepath.Abs(openFolder)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mlm.OpenDir(t.Context(), folder, mlm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := text.Parse(m.Tokenizer(), openText)
	if err != nil {
		t.Fatal(err)
	}
	long := infill.New(m)
	want, err := long.Fill(t.Context(), text, infill.Options{})
	if err = errors.Join(err, long.Close()); err != nil {
		t.Fatal(err)
	}
	t.Setenv("INFILL_ORT", lib.Path)
	t.Setenv("INFILL_CACHE", t.TempDir())
	s := hubtest.New(t)
	files := map[string][]byte{}
	for _, name := range []string{"model.onnx", "vocab.txt", "config.json", "tokenizer_config.json"} {
		if files[name], err = os.ReadFile(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	s.Put("o/tiny", hubtest.Masked(files))
	var absent *hub.PullError
	if _, err := open.Engine("o/tiny"); !errors.As(err, &absent) || absent.Name != "o/tiny" {
		t.Errorf("%v", err)
	}
	cache, err := hub.UserCache()
	if err != nil {
		t.Fatal(err)
	}
	o := hub.Options{Hub: s.URL}
	found, err := cache.Look(t.Context(), "o/tiny", "", o)
	if err != nil {
		t.Fatal(err)
	}
	pulled, err := cache.Pull(t.Context(), found, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{folder, filepath.Join(folder, "model.onnx"), "o/tiny", "o/tiny@main"} {
		got := fillings(t, name)
		if len(got) != len(want.Fillings) || got[0].Text != want.Fillings[0].Text ||
			got[0].Score != want.Fillings[0].Score {
			t.Errorf("%s: %+v", name, got[0])
		}
	}
	// What was pulled and then changed is refused.
	data := append(files["model.onnx"], 0x7a, 1, 'x')
	if err := os.WriteFile(filepath.Join(pulled, "model.onnx"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	var changed *hub.PullError
	if _, err := open.Engine("o/tiny"); !errors.As(err, &changed) ||
		!changed.Changed || changed.Name != "o/tiny" {
		t.Errorf("%v", err)
	}
}

// A plain file that is called as the owner of a repository does not hide it.
func TestOwnerIsAFile(t *testing.T) {
	t.Setenv("INFILL_CACHE", t.TempDir())
	t.Chdir(t.TempDir())
	if err := os.WriteFile("o", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var absent *hub.PullError
	if _, err := open.Find("o/tiny", ""); !errors.As(err, &absent) || absent.Name != "o/tiny" {
		t.Errorf("%v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	if _, err := open.Engine("a", "b"); !errors.Is(err, text.ErrOption) {
		t.Error(err)
	}
	if _, err := open.Engine("robertta"); !errors.Is(err, hub.ErrUnknown) {
		t.Error(err)
	}
	file := filepath.Join(openFolder, "model.onnx")
	if _, err := open.Model(t.Context(), file, mlm.Options{File: "x.onnx"}); !errors.Is(err,
		text.ErrOption) {
		t.Error(err)
	}
	if _, err := open.Engine(filepath.Join(file, "x")); !errors.As(err, new(*fs.PathError)) &&
		!errors.Is(err, hub.ErrUnknown) {
		t.Error(err)
	}
	var none *infill.Engine
	if err := none.Close(); err != nil {
		t.Error(err)
	}
	if _, err := none.FillText(t.Context(), openText, infill.Options{}); !errors.Is(err,
		text.ErrOption) {
		t.Error(err)
	}
}
