package mlm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"infill/internal/ort/orttest"
	"infill/mlm/internal/export"
	"infill/mlm/onnx"
	"infill/models"
)

// ownVectors are the vectors of a head by the ends of their names in the fixtures, as the
// classes of transformers call them, and what a new one has in them.
var ownVectors = map[string]float32{
	"cls.predictions.bias": 0, "cls.predictions.decoder.bias": 0,
	"cls.predictions.transform.dense.bias":       0,
	"cls.predictions.transform.LayerNorm.weight": 1,
	"cls.predictions.transform.LayerNorm.bias":   0,
	"vocab_projector.bias":                       0, "vocab_transform.bias": 0,
	"vocab_layer_norm.weight": 1, "vocab_layer_norm.bias": 0,
	"lm_head.bias": 0, "lm_head.decoder.bias": 0, "lm_head.dense.bias": 0,
	"lm_head.layer_norm.weight": 1, "lm_head.layer_norm.bias": 0,
	"generator_lm_head.bias": 0, "generator_predictions.dense.bias": 0,
	"generator_predictions.LayerNorm.weight": 1, "generator_predictions.LayerNorm.bias": 0,
	"predictions.bias": 0, "predictions.decoder.bias": 0, "predictions.dense.bias": 0,
	"predictions.LayerNorm.weight": 1, "predictions.LayerNorm.bias": 0,
	"head.norm.weight": 1, "decoder.bias": 0, "head.dense.bias": 0,
}

// renew makes the head of a model new, but for the vector number but, and returns how many
// vectors it has.
func renew(t *testing.T, m *onnx.Model, but int) (n int) {
	t.Helper()
	for i, x := range m.Graph.Initializers {
		value, ok := ownVectors[strings.TrimPrefix(x.Name, "model.")]
		if !ok {
			continue
		}
		if n++; n-1 == but {
			continue
		}
		v := slices.Repeat([]float32{value}, int(x.Len()))
		m.Graph.Initializers[i] = onnx.Floats(x.Name, x.Dims, v...)
	}
	return n
}

// A head as the constructors of transformers leave it is named, and it is not once a
// single one of its vectors has been trained.
func TestHeadUntrained(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, name := range []string{
		"bert-sdpa-tied", "bert-dynamo", "bert-untied", "bert-ort-extended", "bert-ort-transformers",
		"bert-external", "distilbert", "distilbert-optimum", "roberta", "roberta-ort-transformers",
		"electra", "albert", "albert-ort-all", "mpnet", "deberta-v2", "deberta-v2-conv", "modernbert",
	} {
		load := func() *onnx.Model {
			m, err := onnx.Load(os.DirFS("onnxgrad/testdata"), name+".onnx")
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		m := load()
		n := renew(t, m, -1)
		if n < 2 {
			t.Fatalf("%s: %d vectors have a known name", name, n)
		}
		if !export.Of(m).NewHead() {
			t.Errorf("%s: a new head of %d vectors passes for trained", name, n)
		}
		for i := range n {
			m := load()
			if renew(t, m, i); export.Of(m).NewHead() {
				t.Errorf("%s: vector %d is trained, the head passes for new", name, i)
			}
			seen++
		}
	}
	if seen < 50 {
		t.Errorf("only %d vectors", seen)
	}
}

// No model that was trained, and no fixture, whose vectors are all random, is warned of.
func TestTrainedHeads(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("onnxgrad/testdata/*.onnx")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, tinyDir+"/model.onnx")
	if dir := os.Getenv("INFILL_BERT_BASE"); dir != "" {
		files = append(files, dir+"/model.onnx")
	}
	for _, f := range files {
		info, _ := InspectDir(filepath.Dir(f), filepath.Base(f))
		if doubtsHead(info) || info.SHA256 == "" {
			t.Errorf("%s: %q", f, info.Warnings)
		}
	}
	for _, m := range models.All() {
		files, _ := models.Find(m.Name)
		info, problems := Inspect(files, "")
		if doubtsHead(info) || len(problems) > 0 {
			t.Errorf("%s: %q, %v", m.Name, info.Warnings, problems)
		}
	}
}

func doubtsHead(i Info) bool {
	return slices.ContainsFunc(i.Warnings, func(w string) bool { return strings.Contains(w, "untrained") })
}

// Inspect and Open, with a derived graph of its own and with one of the cache, all warn.
func TestUntrainedIsSaid(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	files, cache := tinyFiles(t), t.TempDir()
	edit(t, files, func(m *onnx.Model) {
		if n := renew(t, m, -1); n != 4 {
			t.Fatalf("%d vectors", n)
		}
	})
	info, problems := Inspect(files, "")
	if !doubtsHead(info) || len(problems) > 0 {
		t.Errorf("Inspect: %q, %v", info.Warnings, problems)
	}
	for range 2 {
		m, err := Open(t.Context(), files, Options{CacheDir: cache})
		if err != nil {
			t.Fatal(err)
		}
		if !doubtsHead(m.Info()) {
			t.Errorf("Open: %q", m.Info().Warnings)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
