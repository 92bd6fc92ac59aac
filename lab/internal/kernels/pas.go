package kernels

import (
	"math"
	"math/rand/v2"

	"infill/samplers"
)

// PAS is the path auxiliary sampler in its fast form, where all steps of the
// path use the gradient at its start (Sun et al. 2022, algorithm 2). R
// different coordinates are drawn one after the other without replacement with
// probability ∝ w_i = Σ_{v≠θ_i} g(exp(Δ_i(v))), and each moves to v with
// probability g(exp(Δ_i(v)))/w_i:
//
//	log q(path) = Σ_r log[ w_{u_r} / (Σ_all w − Σ_{s<r} w_{u_s}) ]
//	            + Σ_r log[ g_{u_r}(v_r) / w_{u_r} ]
type PAS struct {
	Balance samplers.Balance // g
	Flips   float64          // R, on average
	// NoSingles leaves R as it is in all proposals, as the paper has it. Otherwise one in sixteen
	// changes a single coordinate, so that the chain is irreducible for any R: two flips at a time
	// never leave the states with an even number of ones. That costs a tenth of the ESS.
	NoSingles        bool
	TargetAcceptance float64
}

func (s *PAS) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	p, err := s.proposer(c)
	if err != nil {
		return nil, err
	}
	return samplers.NewMH(c, p, samplers.MHOptions{Gradient: true})
}

func (s *PAS) proposer(c *samplers.Chains) (*pasProposer, error) {
	if err := checkBalance(pasInfo.Name, s.Balance); err != nil {
		return nil, err
	}
	cnt, err := newCounter(c, pasInfo.Name, s.Flips, s.TargetAcceptance, usualAcceptance,
		s.NoSingles)
	if err != nil {
		return nil, err
	}
	n := len(cnt.free)
	p := &pasProposer{
		counter: cnt, sites: newSites(c.Domain, s.Balance, cnt.free),
		key:  make([]float64, n),
		heap: make([]int32, n), in: make([]bool, n), path: make([][]int32, c.Len()),
	}
	for k := range p.path {
		p.path[k] = make([]int32, 0, n)
	}
	return p, nil
}

// pasProposer is the proposal of PAS. The reverse path visits the same coordinates in the opposite
// order, with the weights at θ'.
type pasProposer struct {
	*counter
	*sites
	key  []float64 // Gumbel-perturbed log-weights
	heap []int32   // heap of positions by key
	in   []bool    // scratch: position is on the path
	path [][]int32 // positions (into free) in the order drawn, per chain
}

func (p *pasProposer) Propose(k int, x []int32, g []float64, rng *rand.Rand, y []int32) float64 {
	p.score(x, g)
	if p.bad() {
		return math.NaN()
	}
	r := p.draw(k, rng)
	// The R largest of log w_i + Gumbel noise, in decreasing order, are R
	// sequential draws without replacement.
	for j, lw := range p.lw {
		p.key[j] = lw - math.Log(rng.ExpFloat64())
		p.heap[j] = int32(j)
	}
	for j := len(p.heap)/2 - 1; j >= 0; j-- {
		p.sift(j, len(p.heap))
	}
	path := p.path[k][:0]
	for n := len(p.heap); len(path) < r; n-- {
		path = append(path, p.heap[0])
		p.heap[0] = p.heap[n-1]
		p.sift(0, n-1)
	}
	p.path[k] = path
	for _, j := range path {
		i := p.sites.free[j]
		if p.binary(int(i)) {
			y[i] = 1 - x[i]
			continue
		}
		v, _ := drawLog(rng, p.values(int(i), x[i], g), p.cum)
		if v < 0 {
			return math.NaN()
		}
		y[i] = int32(v)
	}
	return p.logPath(path, x, y, g, false)
}

func (p *pasProposer) Reverse(k int, x, y []int32, gy []float64) float64 {
	p.score(y, gy)
	if p.bad() { // off would leave out a weight of NaN
		return math.NaN()
	}
	return p.logPath(p.path[k], y, x, gy, true)
}

// off is the logarithm of the weight off the path; −∞ when the path has all sites
// or those off it have no weight.
//
// It is summed relative to the largest weight of all while the largest off the
// path is within e^−650 of it: the terms that are then left out are below e^−50 of
// the sum. Weights on the path may be larger by any amount. From there on the sum
// is relative to the largest off the path, as it could be always, but a sum that
// is rounded otherwise decides otherwise where a ratio is exactly 1.
func (p *pasProposer) off() float64 {
	m := negInf
	for j, lw := range p.lw {
		if !p.in[j] && !(lw <= m) {
			m = lw
		}
	}
	if !finite(m) {
		return m
	}
	if all := maxOf(p.lw); finite(all) && all-m < 650 {
		m = all
	}
	s := 0.0
	for j, lw := range p.lw {
		if !p.in[j] && lw-m > -700 {
			s += math.Exp(lw - m)
		}
	}
	return m + math.Log(s)
}

// logPath is log q of going from x to y along the path, with lw the weights at
// x. The remaining weight Σ_all − Σ_{s<r} is summed from the end of the path,
// so that no small number comes out as the difference of two large ones. The
// site's weight cancels against the normaliser of its value.
func (p *pasProposer) logPath(path []int32, x, y []int32, g []float64, reversed bool) float64 {
	for _, j := range path {
		p.in[j] = true
	}
	rest := p.off()
	lq := 0.0
	for r := range path {
		j := path[r]
		if !reversed {
			j = path[len(path)-1-r]
		}
		i := int(p.sites.free[j])
		rest = logAddExp(rest, p.lw[j])
		lq += p.pair(i, x[i], y[i], g) - rest
	}
	for _, j := range path {
		p.in[j] = false
	}
	return lq
}

// sift restores the heap order below position j of the first n entries.
func (p *pasProposer) sift(j, n int) {
	h, key := p.heap, p.key
	for {
		c := 2*j + 1
		if c >= n {
			return
		}
		if c+1 < n && key[h[c+1]] > key[h[c]] {
			c++
		}
		if key[h[c]] <= key[h[j]] {
			return
		}
		h[j], h[c] = h[c], h[j]
		j = c
	}
}

func (s *PAS) Info() samplers.Info { return pasInfo }

var pasInfo = samplers.Info{
	Name: "pas", Title: "Path auxiliary sampler",
	Exact: true, Corrected: true,
	Doc: "changes R different coordinates drawn one after the other by their " +
		"weights (Sun et al. 2022)",
	Needs: []samplers.Need{samplers.NeedGradients}, Cost: "1 energy and gradient",
	Params: []samplers.Param{
		flipsParam(func(s samplers.Sampler, v float64) { s.(*PAS).Flips = v }),
		singlesParam(func(s samplers.Sampler) *bool { return &s.(*PAS).NoSingles }),
		balanceParam(func(s samplers.Sampler) *samplers.Balance {
			return &s.(*PAS).Balance
		}),
		acceptParam(usualAcceptance,
			func(s samplers.Sampler) *float64 { return &s.(*PAS).TargetAcceptance }),
	},
}
