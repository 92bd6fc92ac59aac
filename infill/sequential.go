package infill

import (
	"context"
	"math"
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
	first := t.shortest()[0]
	for k := range x {
		x[k] = slices.Clone(first)
		rng[k] = samplers.NewStream(opt.Seed, id+"\x00start", k)
	}
	stuck := make([]bool, n)
	for i := range t.coords {
		for k := range x {
			at[k], rows[k] = i, append(rows[k][:0], make([]float64, t.coords[i].k())...)
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
			stuck[k] = stuck[k] || !t.next(rng[k], rows[k], i, x[k])
		}
	}
	for k := range x {
		if stuck[k] || !t.valid(x[k]) {
			if err := t.find(search{target: t, rng: rng[k], logp: logp}, x[k]); err != nil {
				return nil, err
			}
		}
	}
	return x, nil
}

// next draws coordinate i of x from the tempered log-probabilities of its categories, of those that
// the coordinates before it leave possible. It reports whether there is one.
func (t *target) next(rng *rand.Rand, logp []float64, i int, x []int32) bool {
	for {
		top := slices.Max(logp)
		if math.IsInf(top, 0) || math.IsNaN(top) {
			return false
		}
		sum := 0.0
		for _, l := range logp {
			sum += math.Exp(l - top)
		}
		r := rng.Float64() * sum
		for v, l := range logp {
			if math.IsInf(l, -1) {
				continue
			}
			x[i] = int32(v) // the last one, should rounding leave something of r
			if r -= math.Exp(l - top); r < 0 {
				break
			}
		}
		if t.possible(i, x) {
			return true
		}
		logp[x[i]] = math.Inf(-1)
	}
}
