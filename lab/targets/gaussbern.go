package targets

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"infill/lab/internal/check"
	"infill/lab/internal/domain"
	"infill/samplers"
)

// GaussianBernoulli is the distribution on {0,1}^d
//
//	π(x) ∝ exp(½ xᵀWx + bᵀx)
//
// with W positive definite, which is the marginal of a pair (x, u) with
//
//	u | x ~ N(W^½ x, I),   x | u ~ Π_i Bernoulli(σ(l_i)),   l = W^½ u + b
//
// so that probability ratios can be estimated from draws of u: the test case of
// SGDLD (its section 6.1). W^½ is the Cholesky factor. Any root gives the same law.
type GaussianBernoulli struct {
	D         int
	W         []float64 // D×D, symmetric, row by row
	B         []float64
	Estimator Estimator // how EstimateRatios draws u; set it before the first use

	root    []float64 // lower triangular L with LLᵀ = W
	dom     *samplers.Domain
	scratch sync.Pool // of *[]float64, 2·D long: calls may be concurrent
	tables  sync.Once // makes cum
	cum     []float64 // cumulative probabilities of the states, for Marginal
}

// NewGaussianBernoulli checks that W is symmetric and positive definite and that
// all numbers are finite; other arguments are a check.ErrShape.
func NewGaussianBernoulli(w, b []float64) (*GaussianBernoulli, error) {
	d := len(b)
	if d < 1 || len(w) != d*d || d > 1<<10 {
		return nil, fmt.Errorf("%w: %d weights for %d biases, want their square (at most 1024 biases)",
			check.ErrShape, len(w), d)
	}
	for _, v := range slices.Concat(w, b) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%w: a weight or bias is %v, want finite numbers",
				check.ErrShape, v)
		}
	}
	t := &GaussianBernoulli{D: d, W: append([]float64(nil), w...), B: append([]float64(nil), b...),
		dom: domain.Bits(d)}
	t.scratch.New = func() any {
		s := make([]float64, 2*d)
		return &s
	}
	t.root = make([]float64, d*d)
	for i := range d {
		for j := 0; j <= i; j++ {
			if w[i*d+j] != w[j*d+i] {
				return nil, fmt.Errorf("%w: W is not symmetric at (%d, %d); use (W + Wᵀ)/2",
					check.ErrShape, i, j)
			}
			s := w[i*d+j]
			for k := range j {
				s -= t.root[i*d+k] * t.root[j*d+k]
			}
			if i == j {
				if !(s > 0) {
					return nil, fmt.Errorf("%w: W is not positive definite; raise its diagonal",
						check.ErrShape)
				}
				t.root[i*d+i] = math.Sqrt(s)
			} else {
				t.root[i*d+j] = s / t.root[j*d+j]
			}
		}
	}
	return t, nil
}

// Domain implements samplers.Target.
func (t *GaussianBernoulli) Domain() *samplers.Domain { return t.dom }

// Energy implements samplers.Target.
func (t *GaussianBernoulli) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k, s := range x {
		u[k] = t.eval(s, nil)
	}
	return nil
}

// EnergyGrad implements samplers.Gradienter. The diagonal of W enters through
// x_i² = x_i, so that the gradient is the multilinear extension's.
func (t *GaussianBernoulli) EnergyGrad(_ context.Context, x [][]int32, u []float64,
	g [][]float64) error {
	for k, s := range x {
		u[k] = t.eval(s, g[k])
	}
	return nil
}

func (t *GaussianBernoulli) eval(x []int32, g []float64) float64 {
	u := 0.0
	for i, v := range x {
		off := 0.0
		for j, w := range t.W[i*t.D : (i+1)*t.D] {
			if j != i {
				off += w * float64(x[j])
			}
		}
		lin := t.B[i] + t.W[i*t.D+i]/2
		u += float64(v) * (off/2 + lin)
		if g != nil {
			g[i] = off + lin
		}
	}
	return u
}
