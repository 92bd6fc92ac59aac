package infill

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"infill/samplers"
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
	if opt.Sampling.Start == StartSequential {
		return t.sequential(ctx, opt, id, n, logp)
	}
	return t.begin(opt, id, n, cum, logp)
}

// sequential makes the states of StartSequential. logp is what the model says with all blanks
// masked.
func (t *target) sequential(ctx context.Context, opt *Options, id string, n int, logp [][]float64) (
	[][]int32, error) {
	x, rng := make([][]int32, n), make([]*rand.Rand, n)
	rows, at := make([][]float64, n), make([]int, n)
	first := t.Shortest()[0]
	for k := range x {
		x[k] = slices.Clone(first)
		rng[k] = samplers.NewStream(opt.Seed, id+"\x00start", k)
	}
	stuck := make([]bool, n)
	for i := range t.Coords {
		for k := range x {
			at[k], rows[k] = i, append(rows[k][:0], make([]float64, t.Coords[i].K())...)
			if i == 0 {
				copy(rows[k], logp[0])
			}
		}
		if i > 0 {
			if err := t.masked(ctx, t.model, x, at, rows, t.openFrom(i, n)); err != nil {
				return nil, err
			}
		}
		for k := range x {
			stuck[k] = stuck[k] || !t.Next(rng[k], rows[k], i, x[k])
		}
	}
	for k := range x {
		if stuck[k] || !t.Valid(x[k]) {
			if err := t.Find(rng[k], logp, x[k]); err != nil {
				return nil, err
			}
		}
	}
	return x, nil
}
