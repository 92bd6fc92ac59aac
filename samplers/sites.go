package samplers

import (
	"math"

	"infill/internal/nearest"
)

// sites gives the locally balanced weights of single-coordinate changes that
// GWG and SGDLD share:
//
//	w_i(v) = g(exp(Δ_i(v))) for v ≠ θ_i,   w_i = Σ_{v≠θ_i} w_i(v)
//
// Drawing i ∝ w_i and then v ∝ w_i(v) is drawing the pair from one softmax
// over all pairs.
type sites struct {
	fac  *factorised // for Δ
	g    Balance
	free []int32   // coordinates that can change
	lw   []float64 // log w of each free coordinate at the last state scored
}

func newSites(d *Domain, g Balance, free []int32) *sites {
	return &sites{fac: newFactorised(d, nil, 0), g: g, free: free, lw: make([]float64, len(free))}
}

// values fills a buffer with log w_i(v), −∞ at v = xi and outside the support.
func (s *sites) values(i int, xi int32, g []float64) []float64 {
	lw := s.fac.deltas(i, xi, g, 0, s.fac.dom.coords[i].K)
	s.g.logAll(lw)
	lw[xi] = negInf
	return lw
}

// pair is log w_i(v).
func (s *sites) pair(i int, xi, v int32, g []float64) float64 {
	return s.g.Log(s.fac.dom.Delta(i, xi, v, g))
}

// score fills lw with log w_i of every free coordinate.
func (s *sites) score(x []int32, g []float64) {
	d := s.fac.dom
	for j, i := range s.free {
		c := &d.coords[i]
		if c.Kind == Binary {
			s.lw[j] = s.g.Log(g[d.off[i]] * c.Step * float64(1-2*x[i]))
			continue
		}
		s.lw[j] = logSumExp(s.values(int(i), x[i], g))
	}
}

// bad reports whether the scored weights make up no distribution.
func (s *sites) bad() bool {
	m := maxOf(s.lw)
	return math.IsInf(m, 0) || m != m
}

// Balance is a locally balanced weight function g with g(t) = t·g(1/t) (Zanella 2020, definition
// 2), applied to the estimated probability ratio t = exp(Δ). Among thousands of categories Ratio
// explores more than Sqrt (DISCS).
type Balance uint8

const (
	Sqrt  Balance = iota // √t, the default
	Ratio                // t/(1+t), Barker's
	Max                  // max(1, t)
	Min                  // min(1, t)
)

// balanceNames has the names of the values of Balance, in their order.
var balanceNames = []string{"sqrt", "ratio", "max", "min"}

// String returns the name: sqrt, ratio, max or min.
func (b Balance) String() string { return nearest.Of(balanceNames, "balance", b) }

// Log is log g(exp(delta)), computed without leaving log space.
func (b Balance) Log(delta float64) float64 {
	switch b {
	case Ratio:
		return logSigmoid(delta)
	case Max:
		if math.IsInf(delta, -1) {
			return delta // an impossible move stays impossible
		}
		return math.Max(delta, 0)
	case Min:
		return math.Min(delta, 0)
	default:
		return delta / 2
	}
}

// logAll replaces every Δ by log g(exp(Δ)).
func (b Balance) logAll(d []float64) {
	if b == Sqrt {
		for i := range d {
			d[i] *= 0.5
		}
		return
	}
	for i, x := range d {
		d[i] = b.Log(x)
	}
}
