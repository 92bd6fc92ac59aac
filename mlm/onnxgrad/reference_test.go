package onnxgrad

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"infill/mlm/onnxeval"
)

// tensor is the array as int64.
func (a array) tensor() *onnxeval.Tensor { return onnxeval.NewInt(a.Shape, a.ints()) }

// TestTorchLogits compares whole forward passes with torch in float64. The
// stored values have ten decimals.
func TestTorchLogits(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	var compared, refused atomic.Int32
	t.Cleanup(func() { // after all fixtures
		done, not := int(compared.Load()), int(refused.Load())
		if done+not == len(files) && done < 50 { // fewer where -run chooses some
			t.Errorf("%d of %d fixtures compared", done, len(files))
		}
	})
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			if compareLogits(t, file) {
				compared.Add(1)
			} else {
				refused.Add(1)
			}
		})
	}
}

// compareLogits reports whether the fixture could be evaluated.
func compareLogits(t *testing.T, file string) bool {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Calls []map[string]array }
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSuffix(file, ".json")
	m := loadModel(t, name+".onnx")
	e, err := newEvaluator(m)
	if err != nil {
		t.Fatal(err)
	}
	limit := 3e-6
	switch { // constants such as √2 and 1/√d are rounded to the file's type
	case strings.HasSuffix(name, "bfloat16"):
		limit = 0.3
	case strings.HasSuffix(name, "float16"), strings.HasSuffix(name, "float16-torch"):
		limit = 0.02
	}
	for i, c := range f.Calls {
		in := map[string]*onnxeval.Tensor{}
		for _, v := range m.Graph.Inputs {
			in[v.Name] = c[v.Name].tensor()
		}
		out, err := e.Run(in, "logits")
		if strings.Contains(file, "-int8") && errors.Is(err, onnxeval.ErrOp) {
			return false // products of 8-bit integers: package mlm compares them with the runtime
		}
		if err != nil {
			t.Fatal(err)
		}
		var got []float64 // every 24th column is stored, where there is no padding
		for p, attended := range c["attention_mask"].Data {
			for k := 0; k < out[0].Shape[2] && attended > 0; k += 24 {
				got = append(got, out[0].F[p*out[0].Shape[2]+k])
			}
		}
		if d := distance(got, c["logits"].Data); !(d < limit) {
			t.Errorf("call %d: logits differ by %g", i, d)
		}
	}
	return true
}

func distance(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	d := 0.0
	for i := range a {
		if x := math.Abs(a[i] - b[i]); !(x <= d) {
			d = x
		}
	}
	return d
}

// TestSlope compares finite differences with torch's gradient: the second term of ∇U.
func TestSlope(t *testing.T) {
	t.Parallel()
	// The lookup of words is a node of its own, fused with the normalisation, and fused with a copy
	// left behind.
	for _, name := range []string{"bert-sdpa-tied", "bert-ort-transformers",
		"distilbert-ort-transformers"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slopes(t, name)
		})
	}
}

func slopes(t *testing.T, name string) {
	raw, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Calls []map[string]array }
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	c := f.Calls[1] // one chain of two blanks, nothing padded
	lm, err := NewMaskedLM(loadModel(t, "testdata/"+name+".onnx"))
	if err != nil {
		t.Fatal(err)
	}
	length := c["input_ids"].Shape[1]
	s := &Sentence{IDs: c["input_ids"].ints()[:length],
		Types: c["token_type_ids"].ints()[:length], Mask: 4}
	for i, b := range c["blanks"].Data {
		s.Blanks = append(s.Blanks, int(b))
		s.IDs[int(b)] = int64(c["targets"].Data[i])
	}
	cond, err := lm.Conditionals(s)
	if err != nil {
		t.Fatal(err)
	}
	v := lm.Vocabulary()
	for j := range s.Blanks {
		// the export holds constants in float32
		if d := distance(cond[j], c["conditional"].Data[j*v:(j+1)*v]); !(d < 1e-6) {
			t.Errorf("conditional %d differs by %g", j, d)
		}
		for k := 0; k < v; k += 13 {
			got, err := lm.Slope(s, j, k)
			want := c["gradient"].Data[j*v+k] - c["conditional"].Data[j*v+k]
			if err != nil || !(math.Abs(got-want) < 1e-6) {
				t.Errorf("slope at blank %d along token %d: %g (%v), torch %g", j, k, got, err,
					want)
			}
		}
	}
	if _, err := lm.Slope(s, 0, v); err == nil {
		t.Error("a token outside the vocabulary was accepted")
	}
	s.Blanks[0] = length
	if _, err := lm.Conditionals(s); err == nil {
		t.Error("a blank outside the sentence was accepted")
	}
}

func BenchmarkTinySentence(b *testing.B) {
	lm, err := NewMaskedLM(loadModel(b, "../testdata/tiny-bert/model.onnx"))
	if err != nil {
		b.Fatal(err)
	}
	s := &Sentence{IDs: []int64{2, 7, 24, 43, 10, 7, 36, 20, 3}, Blanks: []int{2, 6}, Mask: 4}
	for b.Loop() {
		if _, err := lm.Conditionals(s); err != nil {
			b.Fatal(err)
		}
	}
}
