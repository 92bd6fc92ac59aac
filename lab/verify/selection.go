package verify

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"infill/lab/internal/diag"
)

// scales are by how many powers of ten the jump rates Z, and the norms of the gradient, of 200
// mini-batches differ at one state (the paper's figure 1).
func (s selection) scales(ctx context.Context) (jumps, slopes float64, err error) {
	x := starts(s.t.Domain(), 1, s.seed)
	rng := []*rand.Rand{rand.New(rand.NewPCG(s.seed, 1))}
	var z, norm []float64
	u, g := make([]float64, 1), [][]float64{make([]float64, s.t.Domain().Len())}
	for range 200 {
		if err := s.t.EstimateRatios(ctx, x, s.batch, rng, g, nil); err != nil {
			return 0, 0, err
		}
		top, sum := slices.Max(g[0])/2, 0.0
		for _, l := range g[0] {
			sum += math.Exp(l/2 - top)
		}
		z = append(z, (top+math.Log(sum))/math.Ln10)
		if err := s.t.StochasticGrad(ctx, x, s.batch, rng, u, g); err != nil {
			return 0, 0, err
		}
		sum = 0
		for _, v := range g[0] {
			sum += v * v
		}
		norm = append(norm, math.Log10(sum)/2)
	}
	return slices.Max(z) - slices.Min(z), slices.Max(norm) - slices.Min(norm), nil
}

// barrier is by how many nats the best sums with s_0 ≠ 1 are below the best with s_0 = 1: what a
// chain has to climb that swaps the first column for its copy.
func barrier(sums []float64) float64 {
	best := [3]float64{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	for s, u := range sums {
		best[s%3] = max(best[s%3], u)
	}
	return best[1] - max(best[0], best[2])
}

// rhats are split R-hat of the distance to a fixed state after 2, 5, 10 and 20 steps, as far as
// the run goes.
func rhats(g *selected, updates int) []string {
	out := []string{"–", "–", "–", "–"}
	for i, steps := range []int{2, 5, 10, 20} {
		head := make([][]float64, 0, len(g.Distance))
		for _, x := range g.Distance {
			if len(x) >= steps*updates {
				head = append(head, x[:steps*updates])
			}
		}
		if len(head) > 0 {
			out[i] = fmt.Sprintf("%.3f", diag.SplitRHat(head))
		}
	}
	return out
}
