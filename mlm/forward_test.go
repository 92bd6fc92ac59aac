package mlm_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"infill/internal/ort/orttest"
	"infill/internal/testmode"
	"infill/mlm"
	"infill/models"
)

// TestForward: without the backward pass the rows over the vocabulary have the same bits, for every
// fixture, and full gradients are refused.
func TestForward(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	both := func(t *testing.T, open func(o mlm.Options) (*mlm.Model, error)) {
		want, got := rowsOf(t, open, mlm.Options{}), rowsOf(t, open, mlm.Options{Forward: true})
		for i := range want {
			if !slices.Equal(want[i], got[i]) {
				t.Fatalf("row %d of %d differs", i, len(want))
			}
		}
	}
	for _, a := range architectures {
		for _, fixture := range a.fixtures {
			t.Run(fixture, func(t *testing.T) {
				dir := exportFolder(t, a.folder, fixture)
				both(t, func(o mlm.Options) (*mlm.Model, error) { return mlm.OpenDir(t.Context(), dir, o) })
			})
		}
	}
	t.Run("default", func(t *testing.T) {
		both(t, func(o mlm.Options) (*mlm.Model, error) {
			return mlm.Open(t.Context(), models.Small(), o)
		})
	})
	t.Run("BERT-base", func(t *testing.T) {
		dir := testmode.BERTBase(t)
		both(t, func(o mlm.Options) (*mlm.Model, error) { return mlm.OpenDir(t.Context(), dir, o) })
	})
}

// rowsOf opens a model and has it compute rows of sentences of some lengths, in calls of some sizes.
func rowsOf(t *testing.T, open func(o mlm.Options) (*mlm.Model, error),
	o mlm.Options) (all [][]float32) {
	t.Helper()
	m, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	rng, v := rand.New(rand.NewPCG(4, 2)), m.VocabSize()
	table := func(n, width int) [][]float32 {
		out := make([][]float32, n)
		for i := range out {
			out[i] = make([]float32, width)
		}
		return out
	}
	for _, length := range []int{5, 12} {
		s := &mlm.Sentence{IDs: make([]int32, length), Blanks: []int{1, 3}}
		for i := range s.IDs {
			s.IDs[i] = rng.Int32N(int32(v))
		}
		for _, n := range []int{1, 3, 11} {
			states, at, out := make([][]int32, n), make([]int, n), table(n, v)
			for k := range states {
				states[k], at[k] = []int32{rng.Int32N(int32(v)), rng.Int32N(int32(v))}, k%2
			}
			if err := m.Conditional(t.Context(), s, states, at, out); err != nil {
				t.Fatal(err)
			}
			all = append(all, out...)
			lp := table(n, 2)
			if err := m.LogProb(t.Context(), s, states, lp); err != nil {
				t.Fatal(err)
			}
			all = append(all, lp...)
			err := m.Gradient(t.Context(), s, states, mlm.Full, lp, table(n, 2*v))
			if m.Info().Gradients == o.Forward || o.Forward != errors.Is(err, mlm.ErrNoGradient) {
				t.Fatalf("%+v: %v, of a model that has gradients: %v", o, err, m.Info().Gradients)
			}
		}
	}
	return all
}
