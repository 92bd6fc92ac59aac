package targets

import (
	"context"
	"math"
	"math/rand/v2"

	"infill/lab/internal/check"
	"infill/lab/internal/domain"
	"infill/lab/internal/stable"
	"infill/samplers"
)

// LogReg is Bayesian variable selection in logistic regression: which of d
// features matter. The effect sizes β are given and θ ∈ {0,1}^d switches
// features on, with independent priors,
//
//	U(θ) = Σ_n log σ(y_n Σ_i x_ni β_i θ_i) + Σ_i θ_i log(p/(1−p)),   y_n ∈ {−1,+1}
//
// The gradient with respect to θ is not that of the multilinear extension but
// the derivative of U as it is written, as a user would differentiate it.
type LogReg struct {
	N, D  int
	X     []float64 // N rows of D features
	Y     []float64 // −1 or +1
	Beta  []float64
	Prior float64 // p

	dom *samplers.Domain
}

// NewLogReg draws a synthetic problem: features and effects ~ N(0,1), a third
// of the features active, labels from the model.
func NewLogReg(rng *rand.Rand, n, d int, prior float64) (*LogReg, error) {
	err := check.Shape("logistic regression", check.Whole("observations", n, 1, check.MaxSites),
		check.Whole("features", d, 1,
			check.MaxSites),
		check.Product("observations × features", n, d), check.Probability("prior", prior))
	if err != nil {
		return nil, err
	}
	t := &LogReg{N: n, D: d, Prior: prior, dom: domain.Bits(d)}
	t.X, t.Y, t.Beta = make([]float64, n*d), make([]float64, n), make([]float64, d)
	for i := range t.X {
		t.X[i] = rng.NormFloat64()
	}
	for i := range t.Beta {
		t.Beta[i] = rng.NormFloat64()
	}
	for r := range t.Y {
		a := 0.0
		for i := 0; i < d; i += 3 {
			a += t.X[r*d+i] * t.Beta[i]
		}
		t.Y[r] = -1
		if rng.Float64() < stable.Sigmoid(a) {
			t.Y[r] = 1
		}
	}
	return t, nil
}

// Domain implements samplers.Target.
func (t *LogReg) Domain() *samplers.Domain { return t.dom }

// row adds observation r, scaled, to the gradient and returns its term of U.
func (t *LogReg) row(r int, x []int32, g []float64, scale float64) float64 {
	row := t.X[r*t.D : (r+1)*t.D]
	a := 0.0
	for i, v := range x {
		if v != 0 {
			a += row[i] * t.Beta[i]
		}
	}
	a *= t.Y[r]
	if g != nil {
		w := scale * t.Y[r] * stable.Sigmoid(-a)
		for i, f := range row {
			g[i] += w * f * t.Beta[i]
		}
	}
	return -stable.Softplus(-a)
}

// prior returns the log-prior and starts the gradient.
func (t *LogReg) prior(x []int32, g []float64) float64 {
	odds := math.Log(t.Prior) - math.Log1p(-t.Prior)
	u := 0.0
	for i, v := range x {
		u += odds * float64(v)
		if g != nil {
			g[i] = odds
		}
	}
	return u
}

// Energy implements samplers.Target.
func (t *LogReg) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k, s := range x {
		u[k] = t.prior(s, nil)
		for r := range t.N {
			u[k] += t.row(r, s, nil, 1)
		}
	}
	return nil
}

// EnergyGrad implements samplers.Gradienter.
func (t *LogReg) EnergyGrad(_ context.Context, x [][]int32, u []float64, g [][]float64) error {
	for k, s := range x {
		u[k] = t.prior(s, g[k])
		for r := range t.N {
			u[k] += t.row(r, s, g[k], 1)
		}
	}
	return nil
}

// StochasticGrad implements samplers.StochasticGradienter with batch
// observations drawn with replacement.
func (t *LogReg) StochasticGrad(_ context.Context, x [][]int32, batch int, rng []*rand.Rand,
	u []float64, g [][]float64) error {
	batch = min(batch, t.N)
	scale := float64(t.N) / float64(batch)
	for k, s := range x {
		u[k] = t.prior(s, g[k])
		for range batch {
			u[k] += scale * t.row(rng[k].IntN(t.N), s, g[k], scale)
		}
	}
	return nil
}

// EstimateRatios implements samplers.RatioEstimator with batch observations
// drawn with replacement: for observation n and feature i,
//
//	N/B·[log σ(y_n(a_n ± x_ni β_i)) − log σ(y_n a_n)],   a_n = Σ_j x_nj β_j θ_j
func (t *LogReg) EstimateRatios(_ context.Context, x [][]int32, batch int, rng []*rand.Rand,
	logRatio, _ [][]float64) error {
	batch = min(batch, t.N)
	scale := float64(t.N) / float64(batch)
	odds := math.Log(t.Prior) - math.Log1p(-t.Prior)
	for k, s := range x {
		out := logRatio[k]
		for i, v := range s {
			out[i] = odds * float64(1-2*v)
		}
		for range batch {
			r := rng[k].IntN(t.N)
			row, a := t.X[r*t.D:(r+1)*t.D], 0.0
			for i, v := range s {
				if v != 0 {
					a += row[i] * t.Beta[i]
				}
			}
			here := stable.Softplus(-t.Y[r] * a)
			for i, v := range s {
				out[i] += scale * (here - stable.Softplus(-t.Y[r]*(a+float64(1-2*v)*row[i]*t.Beta[i])))
			}
		}
	}
	return nil
}

// RatioKind implements samplers.RatioEstimator. A logarithm and an exponential
// in place of a product are some 17 times a gradient's work (BenchmarkLogReg), for rates
// without its bias.
func (t *LogReg) RatioKind() (ofMeans, cheap bool) { return false, true }
