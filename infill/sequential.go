package infill

import (
	"context"
	"math/rand/v2"
	"slices"

	"infill/samplers"
)

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
			if err := t.masked(ctx, x, at, rows, i); err != nil {
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
