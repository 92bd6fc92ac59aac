package mlm_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"infill/internal/ort/orttest"
	"infill/mlm"
	"infill/mlm/onnx"
)

// The logits are the state times the head's matrix of the file, and a bias. What a logit of a state
// is more than the same one of another follows from the matrix alone.
func TestStates(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	for _, a := range architectures {
		for _, name := range a.fixtures {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				dir := exportFolder(t, a.folder, name)
				m := opened(t, dir)
				h, v := m.StateWidth(), m.VocabSize()
				head := headOf(t, dir, m.Info().Head, h, v)
				s := &mlm.Sentence{IDs: make([]int32, 9), Blanks: []int{2, 3, 6}}
				for i := range s.IDs {
					s.IDs[i] = int32(5 + 3*i)
				}
				states, logP := table(3, h), table(3, v)
				if err := errors.Join(m.States(t.Context(), s, []int{0, 1, 2}, states),
					m.Independent(t.Context(), s, logP)); err != nil {
					t.Fatal(err)
				}
				var shift float64
				for w := range v {
					got := float64(logP[1][w]) - float64(logP[2][w])
					for k := range h {
						got -= (float64(states[1][k]) - float64(states[2][k])) * head(k, w)
					}
					if w == 0 {
						shift = got
					}
					if math.Abs(got-shift) > 2e-4 {
						t.Fatalf("logits of token %d differ by %v more than the states say", w, got-shift)
					}
				}
			})
		}
	}
}

func table(n, width int) [][]float32 {
	out := make([][]float32, n)
	for i := range out {
		out[i] = make([]float32, width)
	}
	return out
}

// headOf is the matrix of the head, by its name in the file.
func headOf(t *testing.T, dir, name string, h, v int) func(k, w int) float64 {
	t.Helper()
	g, err := onnx.Load(os.DirFS(dir), "model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range g.Graph.Initializers {
		if w.Name != name {
			continue
		}
		x, err := w.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case len(w.Dims) == 2 && w.Dims[0] == int64(h):
			return func(k, w int) float64 { return x[k*v+w] }
		case len(w.Dims) == 2 && w.Dims[1] == int64(h):
			return func(k, w int) float64 { return x[w*h+k] }
		}
		t.Fatalf("%s has the shape %v, with states of %d values", name, w.Dims, h)
	}
	t.Fatalf("%s has no %s", filepath.Base(dir), name)
	return nil
}

// A model that runs as it is gives no states, and says so.
func TestNoStates(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	m := opened(t, exportFolder(t, "bert", "bert-int8"))
	s := &mlm.Sentence{IDs: []int32{5, 6, 7}, Blanks: []int{1}}
	if err := m.States(t.Context(), s, []int{0}, table(1, 8)); !errors.Is(err, mlm.ErrNoState) ||
		m.StateWidth() != 0 {
		t.Errorf("%v, width %d", err, m.StateWidth())
	}
}
