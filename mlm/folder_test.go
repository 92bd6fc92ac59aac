package mlm

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"infill/mlm/onnx"
)

// hubCache makes a repository of Hugging Face's cache out of a model's folder: the files
// are blobs, those of the snapshot are links to them. sub is a folder for the ONNX file.
func hubCache(t *testing.T, from, sub string) (repository, snapshot string) {
	t.Helper()
	repository = filepath.Join(t.TempDir(), "hub", "models--a--b")
	snapshot = filepath.Join(repository, "snapshots", "0123456789abcdef")
	blobs := filepath.Join(repository, "blobs")
	if err := errors.Join(os.MkdirAll(blobs, 0o755),
		os.MkdirAll(filepath.Join(snapshot, sub), 0o755)); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(from, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		at, up := snapshot, "../../blobs"
		if sub != "" && (filepath.Ext(f.Name()) == ".onnx" || filepath.Ext(f.Name()) == ".bin") {
			at, up = filepath.Join(snapshot, sub), "../../../blobs"
		}
		blob := "blob-of-" + f.Name()
		err = errors.Join(os.WriteFile(filepath.Join(blobs, blob), b, 0o644),
			os.Symlink(filepath.FromSlash(up+"/"+blob), filepath.Join(at, f.Name())))
		if err != nil {
			t.Skip("links cannot be made: ", err)
		}
	}
	return repository, snapshot
}

// externalTiny is the tiny model with its weights in a file beside it.
func externalTiny(t *testing.T) string {
	t.Helper()
	dir := copyTiny(t)
	path := filepath.Join(dir, "model.onnx")
	weights := filepath.Join(dir, "weights.bin")
	if err := os.Rename(path, weights); err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Load(os.DirFS(dir), "weights.bin")
	if err != nil {
		t.Fatal(err)
	}
	// With the file called weights.bin, every weight's origin lies in it.
	thin, err := m.MarshalExternal(1024, nil)
	if err = errors.Join(err, os.WriteFile(path, thin, 0o644)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A model in Hugging Face's cache opens, with its weights in the file and beside it, and
// computes what it does elsewhere; from the cache of graphs too.
func TestHubCache(t *testing.T) {
	t.Parallel()
	tiny, external := tinyDir, externalTiny(t)
	for _, c := range []struct{ name, from, sub string }{
		{"in the file", tiny, ""}, {"beside it", external, ""},
		{"below, in the file", tiny, "onnx"}, {"below, beside it", external, "onnx"},
	} {
		_, dir := hubCache(t, c.from, c.sub)
		cacheDir := t.TempDir()
		_, want := opened(t, c.from, options{})
		for i := range 2 {
			hit, got := opened(t, dir, cached(cacheDir))
			if hit != (i == 1) || !slices.Equal(got, want) {
				t.Errorf("%s, opening %d: from the cache %v, the same %v", c.name, i, hit,
					slices.Equal(got, want))
			}
		}
		if info, problems := InspectDir(dir, ""); len(problems) > 0 || !info.Gradients {
			t.Errorf("%s: %v", c.name, problems)
		}
	}
}

// Out of the repository no link leads, and elsewhere none out of the model's folder.
func TestHubCacheEnds(t *testing.T) {
	t.Parallel()
	repo, dir := hubCache(t, tinyDir, "")
	outside := filepath.Join(filepath.Dir(repo), "blobs", "x")
	if err := os.MkdirAll(filepath.Dir(outside), 0o755); err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(dir, "model.onnx")
	b, err := os.ReadFile(model)
	err = errors.Join(err, os.WriteFile(outside, b, 0o644), os.Remove(model),
		os.Symlink("../../../blobs/x", model))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenDir(t.Context(), dir, Options{}); !errors.Is(err, ErrNoModel) {
		t.Errorf("a link out of the repository: %v", err)
	}
	plain := copyTiny(t)
	model = filepath.Join(plain, "model.onnx")
	if err := errors.Join(os.Remove(model), os.Symlink(outside, model)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenDir(t.Context(), plain, Options{}); !errors.Is(err, ErrNoModel) {
		t.Errorf("a link out of a folder: %v", err)
	}
	// A link to a folder beside it, without the absolute path that no root takes.
	plain = copyTiny(t)
	beside, model := filepath.Join(filepath.Dir(plain), "beside"), filepath.Join(plain, "model.onnx")
	err = errors.Join(os.Mkdir(beside, 0o755), os.Rename(model, filepath.Join(beside, "model.onnx")),
		os.Symlink("../beside/model.onnx", model))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenDir(t.Context(), plain, Options{}); !errors.Is(err, ErrNoModel) {
		t.Errorf("a link to a folder beside it: %v", err)
	}
	if _, err := OpenDir(t.Context(), filepath.Join(repo, "snapshots", "none"),
		Options{}); !errors.Is(err, ErrNoModel) {
		t.Errorf("no such snapshot: %v", err)
	}
}
