package mlm

import (
	"errors"
	"math"
	"slices"
	"testing"

	"infill/internal/ort/orttest"
	"infill/mlm/device/devicetest"
)

func openFloat16(t *testing.T, name string) *Model {
	t.Helper()
	orttest.Load(t)
	m, err := Open(t.Context(), fixtureFiles(t, name), Options{Precision: Float16,
		Devices: devicetest.Devices(), Device: devicetest.Card, Forward: true, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// Rounded products give other numbers, a little off, the same each time. The float32 model of such
// a model has the bits of one that was opened in float32 on its device.
func TestRounded(t *testing.T) {
	t.Parallel()
	m := openFloat16(t, "bert-sdpa-tied")
	plain, err := Open(t.Context(), fixtureFiles(t, "bert-sdpa-tied"), Options{
		Devices: devicetest.Devices(), Device: devicetest.Card, Forward: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = plain.Close() }()
	exact, err := m.Float32(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := m.Float32(t.Context()); again != exact || err != nil {
		t.Errorf("opened twice: %v", err)
	}
	if self, err := plain.Float32(t.Context()); self != plain || err != nil {
		t.Errorf("another model for one in float32: %v", err)
	}
	s := &Sentence{IDs: []int32{2, 10, 11, 12, 13, 3}, Blanks: []int{1, 3, 4}}
	states := [][]int32{{20, 21, 22}, {30, 31, 32}}
	of := func(m *Model) (out [2][]float32) {
		lp := [][]float32{make([]float32, 3), make([]float32, 3)}
		wide := [][]float32{make([]float32, 3*m.VocabSize()), make([]float32, 3*m.VocabSize())}
		err := errors.Join(m.LogProb(t.Context(), s, states, lp),
			m.Gradient(t.Context(), s, states, Forward, lp, wide))
		if err != nil {
			t.Fatal(err)
		}
		return [2][]float32{slices.Concat(lp...), slices.Concat(wide...)}
	}
	rounded, again, truth, second := of(m), of(m), of(plain), of(exact)
	if !slices.Equal(rounded[0], again[0]) || !slices.Equal(rounded[1], again[1]) {
		t.Error("not a function of the state")
	}
	if !slices.Equal(second[0], truth[0]) || exact.Info().Gradients {
		t.Error("the model in float32 gives other bits, or has a backward pass")
	}
	off := 0.0
	for i, x := range truth[0] {
		off = max(off, math.Abs(float64(x-rounded[0][i])))
	}
	if off == 0 || off > .1 {
		t.Errorf("log f is off by %g", off)
	}
	if m.Close() != nil {
		t.Error("closing")
	}
	if _, err := m.Float32(t.Context()); !errors.Is(err, errClosed) {
		t.Errorf("after closing: %v", err)
	}
}
