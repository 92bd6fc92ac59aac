package onnxgrad_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/open"
	"infill/internal/ort/orttest"
	"infill/internal/testmode"
	"infill/mlm"
)

// A model of your own: go test ./mlm/onnxgrad -run TestModels/given -v -args -model FOLDER. A folder
// is named from the root of the file system.
var (
	given      = flag.String("model", "", "folder or name of the model")
	device     = flag.String("device", mlm.CPUDevice, "what evaluates it")
	blanks     = flag.Int("blanks", 3, "blanks of a sentence of random tokens")
	directions = flag.Int("directions", 3, "tokens tried per blank")
	seed       = flag.Uint64("seed", 1, "seed of blanks and tokens")
)

// opened opens a model by its name, or that of its folder.
func opened(t *testing.T, name, device string) (*mlm.Model, fs.FS) {
	t.Helper()
	from, err := open.Find(name, "")
	if err != nil {
		t.Fatal(err)
	}
	m, err := from.Open(t.Context(), mlm.Options{Device: device, Precision: mlm.Auto,
		Runtime: orttest.Load(t).Path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m, from.Files()
}

// exported is a fixture in a folder as an exporter leaves it, with the tokenizer and config.json of
// its architecture.
func exported(t *testing.T, file string) string {
	t.Helper()
	name, dir := strings.TrimSuffix(filepath.Base(file), ".onnx"), t.TempDir()
	kind := "bert"
	for _, f := range []string{"deberta-v2", "distilbert", "modernbert", "roberta", "electra", "albert",
		"mpnet", "eurobert"} {
		if strings.HasPrefix(name, f) {
			kind = strings.ReplaceAll(f, "eurobert", "modernbert") // a tokenizer of the same kind
		}
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "testdata", "architectures", kind))); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(strings.TrimSuffix(file, ".onnx") + ".*data*") // external weights
	for _, f := range append(files, file) {
		to := filepath.Base(f)
		if f == file {
			to = "model.onnx"
		}
		data, rerr := os.ReadFile(f)
		if err != nil || rerr != nil || os.WriteFile(filepath.Join(dir, to), data, 0o600) != nil {
			t.Fatal(err, rerr)
		}
	}
	return dir
}

// Every export that is tested, opened as users do, has the gradients of its file, and so have the
// program's own models.
func TestModels(t *testing.T) {
	t.Parallel()
	run := func(name, path, device string, o sizes) {
		t.Run(name, func(t *testing.T) {
			m, files := opened(t, path, device)
			r, err := check(t.Context(), m, files, o)
			t.Logf(`%d derivatives at %d blanks against float64 finite differences
log f                 largest error %.2g nats
gradient, first term  largest error %.2g nats
gradient, second term largest error %.2g of its largest value, %.3g (tolerance %.0e)`, r.directions,
				o.blanks, r.logProb, r.first, r.gradient, r.scale, tolerance)
			if err != nil || !r.ok || !m.Info().Gradients {
				t.Errorf("%+v, %v: %s", r, err, m.Info().NoGradients)
			}
		})
	}
	if *given != "" {
		run("given", *given, *device, sizes{*blanks, *directions, *seed})
		return
	}
	run("tiny", "../testdata/tiny-bert", "cpu", sizes{2, 8, 5})
	run("small", "small", "cpu", sizes{2, 1, 0})
	t.Run("BERT-base", func(t *testing.T) { // docs/reference/models.md has its row
		m, files := opened(t, testmode.BERTBase(t), "cpu")
		if r, err := check(t.Context(), m, files, sizes{3, 3, 0}); err != nil || !r.ok {
			t.Errorf("%+v, %v", r, err)
		}
	})
	fixtures, err := filepath.Glob("testdata/*.onnx")
	if err != nil || len(fixtures) < 10 {
		t.Fatalf("%d fixtures, %v", len(fixtures), err)
	}
	for _, f := range fixtures {
		if !strings.Contains(f, "-int8") { // which cmd/infill's TestModelTable sees refused
			run(filepath.Base(f), exported(t, f), "cpu", sizes{3, 3, 1})
		}
	}
}
