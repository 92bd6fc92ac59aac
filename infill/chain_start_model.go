package infill

import (
	"context"
	"math"
	"slices"
)

// starts makes the first states of n chains, as Options.Sampling.Start says, from what the model
// says with all blanks masked. StartMasked draws every coordinate by itself from that. Where
// constraints tie coordinates together, states that break them are drawn again.
func (t *target) starts(ctx context.Context, opt *Options, id string, n int) ([][]int32, error) {
	m := len(t.Coords)
	logp, err := t.allMasked(ctx)
	if err != nil {
		return nil, err
	}
	t.prior = make([][]float64, m)
	// Cumulative weights per coordinate: every chain then draws by bisection.
	cum := make([][]float64, m)
	for i, lp := range logp {
		if t.Coords[i].Slot < 0 {
			t.prior[i] = make([]float64, len(lp))
			for v := range lp {
				t.prior[i][v] = lp[v] * t.temp
			}
		}
		if err := t.Finite(i, lp); err != nil {
			return nil, err
		}
		top := slices.Max(lp)
		sum := 0.0
		cum[i] = make([]float64, len(lp))
		for v, l := range lp {
			sum += math.Exp(l - top)
			cum[i][v] = sum
		}
	}
	return t.begin(opt, id, n, cum, logp)
}
