package mlm_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"infill/internal/ort/orttest"
	"infill/internal/testmode"
	"infill/mlm"
	"infill/mlm/device"
	"infill/models"
)

// TestKindsAgree: the three ways to a log-probability (one token of a row, the row over the
// vocabulary, the row of a gradient) give the same bits, whatever else is in the call. What one
// of them gave may thus be remembered for the others.
func TestKindsAgree(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	t.Run(device.CPU, func(t *testing.T) {
		eachKind(t, mlm.Options{}, true)
		t.Run("BERT-base", func(t *testing.T) {
			m, err := mlm.OpenDir(t.Context(), testmode.BERTBase(t), mlm.Options{})
			kindsAgree(t, m, err)
		})
	})
}

// eachKind compares the kinds for one fixture, or for all and the model small.
func eachKind(t *testing.T, o mlm.Options, all bool) {
	for _, a := range architectures {
		for _, fixture := range a.fixtures {
			t.Run(fixture, func(t *testing.T) {
				m, err := mlm.OpenDir(t.Context(), exportFolder(t, a.folder, fixture), o)
				kindsAgree(t, m, err)
			})
			if !all {
				return
			}
		}
	}
	t.Run("small", func(t *testing.T) {
		m, err := mlm.Open(t.Context(), models.Small(), o)
		kindsAgree(t, m, err)
	})
}

func kindsAgree(t *testing.T, m *mlm.Model, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	rng := rand.New(rand.NewPCG(1, 2))
	v := m.VocabSize()
	table := func(n, width int) [][]float32 {
		out := make([][]float32, n)
		for i := range out {
			out[i] = make([]float32, width)
		}
		return out
	}
	const states = 6
	for blanks := 1; blanks <= 4; blanks++ {
		s := &mlm.Sentence{}
		for range 9 {
			s.IDs = append(s.IDs, int32(rng.IntN(v)))
		}
		s.Blanks = []int{1, 2, 5, 7}[:blanks]
		x := make([][]int32, states)
		for c := range x {
			for range blanks {
				x[c] = append(x[c], int32(rng.IntN(v)))
			}
		}
		all, one, lpf, lpg := table(states, blanks), table(1, blanks), table(states, blanks),
			table(states, blanks)
		wide, row := table(states, blanks*v), table(1, v)
		first := table(states, blanks*v)
		ctx := context.Background()
		if err := m.LogProb(ctx, s, x, all); err != nil {
			t.Fatal(err)
		}
		if err := m.Gradient(ctx, s, x, mlm.Forward, lpf, first); err != nil {
			t.Fatal(err)
		}
		if err := m.Gradient(ctx, s, x, mlm.Full, lpg, wide); err != nil {
			t.Fatal(err)
		}
		for c := range x {
			if err := m.LogProb(ctx, s, x[c:c+1], one); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(one[0], all[c]) || !slices.Equal(one[0], lpf[c]) ||
				!slices.Equal(one[0], lpg[c]) {
				t.Errorf("%d blanks, state %d: %v by itself, %v among others, %v forward, %v with a gradient",
					blanks, c, one[0], all[c], lpf[c], lpg[c])
			}
			for i := range s.Blanks {
				if err := m.Conditional(ctx, s, x[c:c+1], []int{i}, row); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(row[0], first[c][i*v:(i+1)*v]) {
					t.Errorf("%d blanks, state %d: the row of blank %d differs", blanks, c, i)
				}
			}
		}
	}
}
