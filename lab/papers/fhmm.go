package papers

import (
	"context"
	"math"
	"math/rand/v2"

	"infill/lab/internal/check"
	"infill/lab/internal/domain"
	"infill/samplers"
)

// FHMM is the posterior of a factorial hidden Markov model (Ghahramani and Jordan 1997; equation
// 107 of DLMC's paper): Chains independent Markov chains of length Length, each in one of K states,
// and an observation at each time,
//
//	p(x) = Π_c p(x_0c) Π_{t>0} p(x_tc | x_{t−1,c})
//	y_t ~ N(Σ_c w_c[x_tc] + w_0, σ²),   U(x) = log p(x) + log p(y | x)
//
// A chain begins in state 0 with probability Start and keeps its state with probability Stay. Else
// all other states are equally likely. Coordinate t·Chains + c is x_tc. It is binary on {0,1} where
// K is 2 and nominal otherwise. The gradient is the derivative of U on one-hot vectors, log p(x)
// being multilinear in them. On {0,1} it is the derivative by x.
type FHMM struct {
	Length, Chains, K int
	Start, Stay       float64
	W                 []float64 // w_c[v] at c·K + v; 0 for v = 0 where K is 2
	W0, Sigma         float64
	Y                 []float64 // Length observations

	dom *samplers.Domain
}

// NewFHMM makes an FHMM of k states whose observations are drawn from the model itself with weights
// ~ N(0,1). DLMC's paper has start .9, stay .8 and sigma 2.
func NewFHMM(rng *rand.Rand, length, chains, k int, start, stay, sigma float64) (*FHMM, error) {
	err := check.Shape("FHMM", check.Whole("length", length, 1, check.MaxSites),
		check.Whole("chains", chains, 1, check.MaxSites),
		check.Whole("states of a chain", k, 2, check.MaxSites),
		check.Product("length × chains × states", length, chains, k),
		check.Probability("start", start), check.Probability("stay", stay),
		check.Positive("sigma", sigma))
	if err != nil {
		return nil, err
	}
	f := &FHMM{Length: length, Chains: chains, K: k, Start: start, Stay: stay, Sigma: sigma,
		W: make([]float64, chains*k), dom: domain.Bits(length * chains)}
	if k > 2 {
		f.dom = domain.Categories(length*chains, k)
	}
	for j := range f.W {
		if k > 2 || j%k > 0 {
			f.W[j] = rng.NormFloat64()
		}
	}
	f.W0 = rng.NormFloat64()
	x := make([]int, chains)
	for t := range length {
		sum := f.W0
		for c := range x {
			if t == 0 {
				x[c] = f.draw(rng, start, 0)
			} else {
				x[c] = f.draw(rng, stay, x[c])
			}
			sum += f.W[c*k+x[c]]
		}
		f.Y = append(f.Y, sum+sigma*rng.NormFloat64())
	}
	return f, nil
}

// draw is v with probability p and any other state otherwise.
func (f *FHMM) draw(rng *rand.Rand, p float64, v int) int {
	if rng.Float64() < p {
		return v
	}
	if f.K == 2 {
		return 1 - v
	}
	return (v + 1 + rng.IntN(f.K-1)) % f.K
}

// Domain implements samplers.Target.
func (f *FHMM) Domain() *samplers.Domain { return f.dom }

// odds are the log-probabilities of one of the other states and by how much that of the likely one
// is larger.
func (f *FHMM) odds(p float64) (other, more float64) {
	other = math.Log1p(-p) - math.Log(float64(f.K-1))
	return other, math.Log(p) - other
}

// eval returns U and, where g is not nil, fills the gradient.
func (f *FHMM) eval(x []int32, g []float64) float64 {
	first, begin := f.odds(f.Start)
	other, keep := f.odds(f.Stay)
	u := float64(f.Chains) * (first + float64(f.Length-1)*other)
	u -= float64(f.Length) * (math.Log(f.Sigma) + 0.5*math.Log(2*math.Pi))
	precision := 1 / (f.Sigma * f.Sigma)
	for t := range f.Length {
		row := x[t*f.Chains : (t+1)*f.Chains]
		res := f.Y[t] - f.W0
		for c, v := range row {
			res -= f.W[c*f.K+int(v)]
		}
		u -= res * res * precision / 2
		for c, v := range row {
			likely, more := int32(0), begin
			if t > 0 {
				likely, more = x[(t-1)*f.Chains+c], keep
			}
			if v == likely {
				u += more
			}
			if g == nil {
				continue
			}
			next := int32(-1)
			if t < f.Length-1 {
				next = x[(t+1)*f.Chains+c]
			}
			slope := func(v int) float64 { // by entry v of the one-hot vector
				d := f.W[c*f.K+v] * res * precision
				if v == int(likely) {
					d += more
				}
				if v == int(next) {
					d += keep
				}
				return d
			}
			i := t*f.Chains + c
			if f.K == 2 {
				g[i] = slope(1) - slope(0)
				continue
			}
			for v := range f.K {
				g[i*f.K+v] = slope(v)
			}
		}
	}
	return u
}

// Energy implements samplers.Target.
func (f *FHMM) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k := range x {
		u[k] = f.eval(x[k], nil)
	}
	return nil
}

// EnergyGrad implements samplers.Gradienter.
func (f *FHMM) EnergyGrad(_ context.Context, x [][]int32, u []float64, g [][]float64) error {
	for k := range x {
		u[k] = f.eval(x[k], g[k])
	}
	return nil
}
