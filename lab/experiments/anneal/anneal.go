// Package anneal looks for states of low mean cost by single random costs: by SGDLD
// at falling temperatures, and by local search.
package anneal

import (
	"context"
	"math/rand/v2"

	"infill/samplers"
)

// A Target has U = −(mean cost)/temperature.
type Target interface {
	samplers.RatioEstimator
	// Heat multiplies the temperature by f.
	Heat(f float64)
}

// Sample makes steps of SGDLD from the states x and returns the last ones. Step t, from 0 on, is
// made at the target's temperature times cooling^t. visit, if not nil, sees the states before each
// step and after the last.
func Sample(ctx context.Context, s *samplers.SGDLD, t Target, x [][]int32, steps int,
	cooling float64, o samplers.Options, visit func(step int, x [][]int32)) ([][]int32, error) {
	run, err := samplers.Start(ctx, s, t, x, o)
	if err != nil {
		return nil, err
	}
	for step := range steps {
		if visit != nil {
			visit(step, run.X)
		}
		if err := run.Step(ctx); err != nil {
			return nil, err
		}
		t.Heat(cooling)
		if err := run.Rescale(ctx, 1/cooling); err != nil {
			return nil, err
		}
	}
	if visit != nil {
		visit(steps, run.X)
	}
	return run.X, nil
}

// Descend is the local search of the SGDLD paper: the same estimates from mini-batches and the same
// cache, but each step goes to the neighbour that is best by the cache, if it is better
// than the state. It changes x. visit is as in Sample.
func Descend(ctx context.Context, t Target, x [][]int32, batch, steps int,
	o samplers.Options, visit func(step int, x [][]int32)) error {
	d := t.Domain()
	rng, sum, last := make([]*rand.Rand, len(x)), make([][]float64, len(x)), make([][]float64, len(x))
	for k := range x {
		rng[k] = samplers.NewStream(o.Seed, o.ID, o.First+k)
		sum[k], last[k] = make([]float64, d.GradLen()), make([]float64, d.GradLen())
	}
	for step := range steps {
		if visit != nil {
			visit(step, x)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.EstimateRatios(ctx, x, batch, rng, last, nil); err != nil {
			return err
		}
		for k, s := range x {
			best, gain := neighbour{coord: -1}, 0.0
			for entry, n := range neighbours(d, s) {
				sum[k][entry] += last[k][entry]
				if sum[k][entry] > gain {
					best, gain = n, sum[k][entry]
				}
			}
			if best.coord >= 0 {
				s[best.coord] = best.to
				clear(sum[k])
			}
		}
	}
	if visit != nil {
		visit(steps, x)
	}
	return nil
}
