package mlm_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"infill/internal/ort/orttest"
	"infill/internal/testmode"
	"infill/mlm"
	"infill/models"
)

// The bits of a row do not depend on how many rows share a call with it, which ones, and where it
// is among them. Tiny models do not show that: kernels are chosen by the size of a product.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	for _, forward := range []bool{false, true} {
		t.Run(fmt.Sprint("forward=", forward), func(t *testing.T) {
			if !forward {
				testmode.Long(t)
			}
			m, err := mlm.Open(t.Context(), models.Small(), mlm.Options{Threads: 1, Forward: forward,
				BatchTokens: mlm.MaxBatchTokens, Runtime: orttest.Load(t).Path})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = m.Close() }()
			sameBesideOthers(t, m)
		})
	}
}

func sameBesideOthers(t *testing.T, m *mlm.Model) {
	t.Helper()
	enc, err := m.Tokenizer().Encode("She had tea at home.")
	if err != nil {
		t.Fatal(err)
	}
	s := &mlm.Sentence{IDs: enc.IDs, Blanks: []int{2, 4}}
	states, calls := 60, []int{60, 1, 16}
	if testmode.All() {
		states, calls = 200, []int{200, 1, 2, 3, 4, 6, 8, 16, 20, 30, 45, 64, 90, 100}
	}
	// Of states with few tokens many rows begin alike, which is computed once.
	few, many := randomStates(states, 6, m.VocabSize()), randomStates(states, 2000, m.VocabSize())
	for _, list := range [][][]int32{few, many} {
		var want neighbours
		want.evaluate(t, m, s, list, calls[0], 0)
		for k, size := range calls {
			var got neighbours
			got.evaluate(t, m, s, list, size, 1+k)
			for what, values := range got.named() {
				differ := 0
				for i, v := range values {
					if v != want.named()[what][i] {
						differ++
					}
				}
				if differ > 0 {
					t.Errorf("%d of %d values of %s differ between calls of %d states and of %d", differ,
						len(values), what, size, calls[0])
				}
			}
		}
	}
}

// randomStates are states of two blanks whose tokens are among some of the vocabulary's middle.
func randomStates(n, tokens, vocab int) [][]int32 {
	random := rand.New(rand.NewPCG(1, uint64(tokens)))
	out := make([][]int32, n)
	for i := range out {
		out[i] = []int32{0, 0}
		for j := range out[i] {
			out[i][j] = int32(vocab/8) + random.Int32N(int32(min(tokens, vocab/2)))
		}
	}
	return out
}

// neighbours are the values of all states in their order.
type neighbours struct{ energies, beside, gradients, conditionals []float32 }

func (n *neighbours) named() map[string][]float32 {
	return map[string][]float32{"log f": n.energies, "log f with gradients": n.beside,
		"gradients": n.gradients, "conditionals": n.conditionals}
}

// evaluate asks for the values of the states, size of them at a time, in an order of its own.
func (n *neighbours) evaluate(t *testing.T, m *mlm.Model, s *mlm.Sentence, states [][]int32,
	size, shuffle int) {
	t.Helper()
	blanks, vocab, gradients := len(s.Blanks), m.VocabSize(), m.Info().Gradients
	energies, beside := wideRows(len(states), blanks), wideRows(len(states), blanks)
	kept, seen := wideRows(len(states), 100), wideRows(len(states), 100)
	order := rand.New(rand.NewPCG(2, uint64(shuffle))).Perm(len(states))
	for part := range slices.Chunk(order, size) {
		var of [][]int32
		which := make([]int, len(part))
		var lp, with [][]float32
		for _, i := range part {
			of, lp, with = append(of, states[i]), append(lp, energies[i]), append(with, beside[i])
		}
		if err := m.LogProb(t.Context(), s, of, lp); err != nil {
			t.Fatal(err)
		}
		wide := wideRows(len(part), blanks*vocab)
		if gradients {
			if err := m.Gradient(t.Context(), s, of, mlm.Full, with, wide); err != nil {
				t.Fatal(err)
			}
			for k, i := range part { // a few of many, which would take memory
				copy(kept[i], wide[k][vocab/8:])
			}
		}
		wide = wideRows(len(part), vocab)
		if err := m.Conditional(t.Context(), s, of, which, wide); err != nil {
			t.Fatal(err)
		}
		for k, i := range part {
			copy(seen[i], wide[k][vocab/8:])
		}
	}
	n.energies, n.beside = slices.Concat(energies...), slices.Concat(beside...)
	n.gradients, n.conditionals = slices.Concat(kept...), slices.Concat(seen...)
}

func wideRows(n, width int) [][]float32 {
	out := make([][]float32, n)
	for i := range out {
		out[i] = make([]float32, width)
	}
	return out
}
