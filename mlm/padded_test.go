package mlm_test

import (
	"slices"
	"testing"

	"infill/infill"
	"infill/infill/text"
	"infill/internal/ort/orttest"
	"infill/mlm"
	"infill/mlm/onnx"
	"infill/samplers"
)

// A file whose logits are padded to a multiple of 8 has some of no piece. They are never chosen,
// however probable they are.
func TestPaddedLogits(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	m := opened(t, editedFolder(t, "bert-untied", func(m *onnx.Model) {
		for i, w := range m.Graph.Initializers {
			at := slices.Index(w.Dims, 97)
			if at < 0 {
				continue
			}
			v, err := w.Float64s()
			if err != nil {
				t.Fatal(err)
			}
			dims := slices.Clone(w.Dims)
			dims[at] = 104
			rows, cols := 1, len(v)
			if len(dims) > 1 && at == 1 {
				rows, cols = int(dims[0]), 97
			}
			var out []float32
			for r := range rows {
				for _, x := range v[r*cols : (r+1)*cols] {
					out = append(out, float32(x))
				}
				for range 7 * cols / 97 {
					out = append(out, 9) // of the bias: more than any
				}
			}
			m.Graph.Initializers[i] = onnx.Floats(w.Name, dims, out...)
		}
		m.Graph.Outputs[0].Shape = nil
		m.Graph.Outputs[0].HasShape = false
		m.Graph.ValueInfo = nil
	}))
	if m.VocabSize() != 104 || m.Info().Tokens != 97 || len(m.Info().Warnings) > 0 {
		t.Fatalf("%d logits, %+v", m.VocabSize(), m.Info())
	}
	lp := make([]float32, 104)
	s := &mlm.Sentence{IDs: []int32{2, 5, 6, 7, 3}, Blanks: []int{2}}
	if err := m.Independent(t.Context(), s, [][]float32{lp}); err != nil {
		t.Fatal(err)
	}
	if best := slices.Max(lp[97:]); best < slices.Max(lp[:97]) {
		t.Errorf("the padding has log f %v: the test shows nothing", best)
	}
	fillFolder(t, m)
	tm, err := text.Parse(m.Tokenizer(), "the [MASK] sat on the [MASK].")
	if err != nil {
		t.Fatal(err)
	}
	for _, sampler := range []samplers.Sampler{&samplers.Gibbs{}, &samplers.DMALA{}} {
		r, err := infill.New(m).Fill(t.Context(), tm, infill.Options{Method: infill.MethodSample,
			Sampling: infill.SamplingOptions{Sampler: sampler, Chains: 3, Steps: 5}})
		if err != nil || len(r.Fillings) == 0 {
			t.Errorf("%T: %v, %v", sampler, r, err)
		}
	}
}
