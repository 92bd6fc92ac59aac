package papers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	"infill/lab/internal/check"
	"infill/lab/internal/stable"
	"infill/samplers"
)

// AnnealedZ is an estimate of a machine's normaliser.
type AnnealedZ struct {
	LogZ  float64   // in nats, the logarithm of the mean weight
	Error float64   // its standard error
	ESS   float64   // effective number of the chains, (Σw)²/Σw²
	LogW  []float64 // log-weights by chain
	X     [][]int32 // the last states, a sample of the machine with the weights exp(LogW)
}

// AnnealedLogZ estimates the logarithm of the normaliser by annealed importance sampling (Neal
// 2001). Chains begin with independent draws of q, logq[i] the logarithms of unit i up to a
// constant, and go along the path of [RBM.Anneal] in equal steps. The seed decides all that is
// drawn.
func (r *RBM) AnnealedLogZ(ctx context.Context, logq [][]float64, chains, rungs int,
	seed uint64) (*AnnealedZ, error) {
	if chains < 1 || rungs < 1 || len(logq) != r.D {
		return nil, fmt.Errorf("%w: %d chains, %d steps and q of %d units of %d", check.ErrShape,
			chains, rungs, len(logq), r.D)
	}
	q, cum := make([][]float64, r.D), make([][]float64, r.D)
	for i, row := range logq {
		z, sum := stable.LogSumExp(row), 0.0
		for _, l := range row {
			sum += math.Exp(l - z)
			q[i], cum[i] = append(q[i], l-z), append(cum[i], sum)
		}
	}
	out := &AnnealedZ{LogW: make([]float64, chains), X: make([][]int32, chains)}
	rng := make([]*rand.Rand, chains)
	for k := range out.X {
		rng[k], out.X[k] = samplers.NewStream(seed, "\x00ais", k), make([]int32, r.D)
		for i, c := range cum {
			t := rng[k].Float64() * c[len(c)-1]
			out.X[k][i] = int32(sort.Search(len(c)-1, func(v int) bool { return c[v] > t }))
		}
	}
	gain := make([]float64, chains)
	for n := range rungs {
		from, to := float64(n)/float64(rungs), float64(n+1)/float64(rungs)
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		r.Anneal(q, from, to, out.X, rng, gain)
		for k, g := range gain {
			out.LogW[k] += g
		}
	}
	twice := make([]float64, chains)
	for k, w := range out.LogW {
		twice[k] = 2 * w
	}
	n, sum := float64(chains), stable.LogSumExp(out.LogW)
	out.LogZ, out.ESS = sum-math.Log(n), math.Exp(2*sum-stable.LogSumExp(twice))
	// The sample variance of w over n·mean(w)² is (n/ESS − 1)/(n − 1).
	out.Error = math.Sqrt(math.Max(0, n/out.ESS-1) / (n - 1))
	return out, nil
}
