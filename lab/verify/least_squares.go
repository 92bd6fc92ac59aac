package verify

import (
	"context"
	"math"
	"math/rand/v2"

	"infill/lab/internal/domain"
	"infill/samplers"
)

// leastSquares is a log-quadratic target on {0,1}^d that is a sum over few observations, so that
// all its mini-batches can be counted:
//
//	U(θ) = −½ Σ_n (y_n − x_nᵀθ)²
type leastSquares struct {
	x [][]float64 // observations × d
	y []float64
}

// newLeastSquares draws x ~ N(0, 1/n), and y of two columns, with noise of that variance.
// So neither U nor a mini-batch's gradient grows with n.
func newLeastSquares(rng *rand.Rand, n, d int) *leastSquares {
	t := &leastSquares{x: make([][]float64, n), y: make([]float64, n)}
	scale := 1 / math.Sqrt(float64(n))
	for r := range t.x {
		t.x[r] = make([]float64, d)
		for i := range t.x[r] {
			t.x[r][i] = scale * rng.NormFloat64()
		}
		t.y[r] = t.x[r][0] + t.x[r][d/2] + scale*rng.NormFloat64()
	}
	return t
}

func (t *leastSquares) Domain() *samplers.Domain { return domain.Bits(len(t.x[0])) }

func (t *leastSquares) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k, s := range x {
		u[k] = 0
		for r := range t.x {
			u[k] -= t.rest(r, s) * t.rest(r, s) / 2
		}
	}
	return nil
}

func (t *leastSquares) EnergyGrad(ctx context.Context, x [][]int32, u []float64,
	g [][]float64) error {
	for k, s := range x {
		clear(g[k])
		for r := range t.x {
			t.add(r, s, 1, g[k])
		}
	}
	return t.Energy(ctx, x, u)
}

// StochasticGrad implements samplers.StochasticGradienter with observations drawn with
// replacement.
func (t *leastSquares) StochasticGrad(_ context.Context, x [][]int32, batch int, rng []*rand.Rand,
	u []float64, g [][]float64) error {
	scale := float64(len(t.x)) / float64(batch)
	for k, s := range x {
		u[k] = math.NaN() // nobody asks
		clear(g[k])
		for range batch {
			t.add(rng[k].IntN(len(t.x)), s, scale, g[k])
		}
	}
	return nil
}

// rest is y_n − x_nᵀθ.
func (t *leastSquares) rest(r int, s []int32) float64 {
	out := t.y[r]
	for i, v := range s {
		out -= t.x[r][i] * float64(v)
	}
	return out
}

// add adds the gradient of one observation's term, times scale.
func (t *leastSquares) add(r int, s []int32, scale float64, g []float64) {
	by := scale * t.rest(r, s)
	for i, v := range t.x[r] {
		g[i] += by * v
	}
}

// eachBatch calls f with the gradient at s of every mini-batch, and with its probability. A batch
// is what StochasticGrad draws, in any order.
func (t *leastSquares) eachBatch(s []int32, batch int, f func(p float64, g []float64)) {
	n := len(t.x)
	scale := float64(n) / float64(batch)
	var from func(r, left int, p float64, g []float64)
	from = func(r, left int, p float64, g []float64) {
		if left == 0 {
			f(p, g)
			return
		}
		if r == n {
			return
		}
		// The multinomial probability, a binomial coefficient for each observation.
		own, choose := append([]float64(nil), g...), 1.0
		for times := 0; times <= left; times++ {
			from(r+1, left-times, p*choose*math.Pow(1/float64(n), float64(times)), own)
			choose *= float64(left-times) / float64(times+1)
			t.add(r, s, scale, own)
		}
	}
	from(0, batch, 1, make([]float64, len(s)))
}
