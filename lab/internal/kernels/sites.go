package kernels

import (
	"infill/samplers"
)

// sites gives the locally balanced weights of single-coordinate changes that PAS and GWGX share:
//
//	w_i(v) = g(exp(Δ_i(v))) for v ≠ θ_i,   w_i = Σ_{v≠θ_i} w_i(v)
//
// Drawing i ∝ w_i and then v ∝ w_i(v) is drawing the pair from one softmax over all pairs.
type sites struct {
	dom  *samplers.Domain
	g    samplers.Balance
	free []int32   // coordinates that can change
	lw   []float64 // log w of each free coordinate at the last state scored
	one  []float64 // scratch of values
	cum  []float64 // scratch of draws
}

func newSites(d *samplers.Domain, g samplers.Balance, free []int32) *sites {
	most := 0
	for i := range d.Len() {
		most = max(most, d.K(i))
	}
	return &sites{dom: d, g: g, free: free, lw: make([]float64, len(free)),
		one: make([]float64, most), cum: make([]float64, max(len(free), most))}
}

// values fills a buffer with log w_i(v), −∞ at v = xi and outside the support.
func (s *sites) values(i int, xi int32, g []float64) []float64 {
	lw := s.one[:s.dom.K(i)]
	for v := range lw {
		lw[v] = negInf
		if int32(v) != xi && s.dom.Allows(i, int32(v)) {
			lw[v] = s.pair(i, xi, int32(v), g)
		}
	}
	return lw
}

// pair is log w_i(v).
func (s *sites) pair(i int, xi, v int32, g []float64) float64 {
	return s.g.Log(s.dom.Delta(i, xi, v, g))
}

// score fills lw with log w_i of every free coordinate.
func (s *sites) score(x []int32, g []float64) {
	for j, i := range s.free {
		if s.binary(int(i)) {
			s.lw[j] = s.pair(int(i), x[i], 1-x[i], g)
		} else {
			s.lw[j] = logSumExp(s.values(int(i), x[i], g))
		}
	}
}

func (s *sites) binary(i int) bool { return s.dom.Coord(i).Kind == samplers.Binary }

// bad reports whether the scored weights make up no distribution.
func (s *sites) bad() bool { return !finite(maxOf(s.lw)) }
