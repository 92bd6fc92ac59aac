package targets

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"infill/samplers"
)

// FHMM is the posterior of a factorial hidden Markov model: Chains independent
// binary Markov chains of length Length and an observation at each time,
//
//	p(x) = Π_c p₀^{x_0c}(1−p₀)^{1−x_0c} Π_{t>0} p(x_tc | x_{t−1,c})
//	y_t ~ N(Σ_c w_c x_tc + w_0, σ²),   U(x) = log p(x) + log p(y | x)
//
// on {0,1}; coordinate t·Chains + c. A chain keeps its state with probability
// Stay.
type FHMM struct {
	Length, Chains int
	Start, Stay    float64
	W              []float64 // Chains weights
	W0, Sigma      float64
	Y              []float64 // Length observations

	dom *samplers.Domain
}

// NewFHMM makes an FHMM whose observations are drawn from the model itself with
// weights ~ N(0,1).
func NewFHMM(rng *rand.Rand, length, chains int, start, stay, sigma float64) (*FHMM, error) {
	err := shape("FHMM", whole("length", length, 1, maxSites), whole("chains", chains, 1, maxSites),
		product("length × chains", length, chains),
		probability("start", start), probability("stay", stay), positive("sigma", sigma))
	if err != nil {
		return nil, err
	}
	f := &FHMM{Length: length, Chains: chains, Start: start, Stay: stay, Sigma: sigma,
		dom: samplers.Bits(length * chains)}
	f.W = make([]float64, chains)
	for c := range f.W {
		f.W[c] = rng.NormFloat64()
	}
	f.W0 = rng.NormFloat64()
	x := make([]bool, chains)
	for t := range length {
		sum := f.W0
		for c := range x {
			switch {
			case t == 0:
				x[c] = rng.Float64() < start
			case rng.Float64() >= stay:
				x[c] = !x[c]
			}
			if x[c] {
				sum += f.W[c]
			}
		}
		f.Y = append(f.Y, sum+sigma*rng.NormFloat64())
	}
	return f, nil
}

// Domain implements samplers.Target.
func (f *FHMM) Domain() *samplers.Domain { return f.dom }

// eval returns U and, where g is not nil, fills the gradient.
func (f *FHMM) eval(x []int32, g []float64) float64 {
	u := 0.0
	odds := math.Log(f.Stay) - math.Log1p(-f.Stay)
	for t := range f.Length {
		row := x[t*f.Chains : (t+1)*f.Chains]
		res := f.Y[t] - f.W0
		for c, v := range row {
			res -= f.W[c] * float64(v)
		}
		u -= res*res/(2*f.Sigma*f.Sigma) + math.Log(f.Sigma) + 0.5*math.Log(2*math.Pi)
		for c, v := range row {
			if t == 0 {
				u += math.Log(f.Start)*float64(v) + math.Log1p(-f.Start)*float64(1-v)
			} else if x[(t-1)*f.Chains+c] == v {
				u += math.Log(f.Stay)
			} else {
				u += math.Log1p(-f.Stay)
			}
			if g == nil {
				continue
			}
			// log p(x_t|x_{t−1}) is log(1−Stay) + odds·[xy + (1−x)(1−y)]:
			// multilinear, with derivative odds·(2y−1).
			d := f.W[c] * res / (f.Sigma * f.Sigma)
			if t == 0 {
				d += math.Log(f.Start) - math.Log1p(-f.Start)
			} else {
				d += odds * float64(2*x[(t-1)*f.Chains+c]-1)
			}
			if t < f.Length-1 {
				d += odds * float64(2*x[(t+1)*f.Chains+c]-1)
			}
			g[t*f.Chains+c] = d
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

// Exact returns log Z = log p(y) and P(x_tc = 1) by the forward–backward
// recursion over the 2^Chains joint states; Chains is at most 10.
func (f *FHMM) Exact() (logZ float64, marg []float64, err error) {
	if f.Chains > 10 {
		return 0, nil, fmt.Errorf("%w: 2^%d joint states, at most 2^10", ErrTooLarge, f.Chains)
	}
	m := 1 << f.Chains
	emit := func(t, p int) float64 {
		res := f.Y[t] - f.W0
		for c := range f.Chains {
			res -= f.W[c] * float64(p>>c&1)
		}
		return -res*res/(2*f.Sigma*f.Sigma) - math.Log(f.Sigma) - 0.5*math.Log(2*math.Pi)
	}
	move := func(p, q int) float64 {
		d := popcount(p ^ q)
		return float64(d)*math.Log1p(-f.Stay) + float64(f.Chains-d)*math.Log(f.Stay)
	}
	fwd, bwd := make([][]float64, f.Length), make([][]float64, f.Length)
	tmp := make([]float64, m)
	for t := range f.Length {
		fwd[t] = make([]float64, m)
		for q := range m {
			if t == 0 {
				n := float64(popcount(q))
				fwd[t][q] = n*math.Log(f.Start) + (float64(f.Chains)-n)*math.Log1p(-f.Start)
			} else {
				for p := range m {
					tmp[p] = fwd[t-1][p] + move(p, q)
				}
				fwd[t][q] = logSumExp(tmp)
			}
			fwd[t][q] += emit(t, q)
		}
	}
	for t := f.Length - 1; t >= 0; t-- {
		bwd[t] = make([]float64, m)
		if t == f.Length-1 {
			continue
		}
		for p := range m {
			for q := range m {
				tmp[q] = bwd[t+1][q] + emit(t+1, q) + move(p, q)
			}
			bwd[t][p] = logSumExp(tmp)
		}
	}
	logZ = logSumExp(fwd[f.Length-1])
	marg = make([]float64, f.Length*f.Chains)
	for t := range f.Length {
		for p := range m {
			w := math.Exp(fwd[t][p] + bwd[t][p] - logZ)
			for c := range f.Chains {
				marg[t*f.Chains+c] += w * float64(p>>c&1)
			}
		}
	}
	return logZ, marg, nil
}
