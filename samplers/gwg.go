package samplers

import (
	"math"
	"math/rand/v2"
)

// GWG is Gibbs with gradients (Grathwohl et al. 2021, algorithm 1): one pair
// (coordinate i, value v ≠ θ_i) is drawn from a single softmax over all pairs,
//
//	q(i, v | θ) ∝ g(exp(Δ_i(v))),   g = √ in the paper
//
// and the change accepted by Metropolis–Hastings. With Draws = X > 1 this is GWG-X: X pairs are
// drawn with replacement at θ and applied one after the other, so that the last counts; the ratio
// has the probabilities of all X draws at θ and at θ'.
type GWG struct {
	Balance Balance // g
	Draws   int     // X; 0 means 1
}

// maxDraws bounds GWG.Draws: more would only repeat coordinates.
const maxDraws = 1 << 12

func (s *GWG) Attach(c *Chains) (Kernel, error) {
	o := *s
	if err := gwgInfo.complete(&o); err != nil {
		return nil, err
	}
	free, err := c.Domain.movable()
	if err != nil {
		return nil, err
	}
	p := &gwgProposer{
		sites: newSites(c.Domain, o.Balance, free),
		cum:   make([]float64, max(len(free), c.Domain.maxK)),
		path:  make([][]pick, c.Len()),
	}
	for k := range p.path {
		p.path[k] = make([]pick, o.Draws)
	}
	return newMH(c, p, mhOptions{MHOptions: MHOptions{Gradient: true}})
}

// pick is one drawn change: coordinate i to value v.
type pick struct{ i, v int32 }

// gwgProposer is the proposal of GWG. The reverse draws are made by exchanging, in a coordinate
// that was drawn more than once, the old and the new value, which maps θ' with them back to θ with
// the draws.
type gwgProposer struct {
	*sites
	cum  []float64
	path [][]pick // the draws of each chain's proposal
}

func (p *gwgProposer) Propose(k int, x []int32, g []float64, rng *rand.Rand, y []int32) float64 {
	p.score(x, g)
	if p.bad() {
		return math.NaN()
	}
	lq := 0.0
	for r := range p.path[k] {
		j, lse := drawLog(rng, p.lw, p.cum)
		i := p.free[j]
		v := 1 - x[i]
		if p.fac.dom.coords[i].Kind != Binary {
			d, _ := drawLog(rng, p.values(int(i), x[i], g), p.cum)
			if d < 0 {
				return math.NaN()
			}
			v = int32(d)
		}
		p.path[k][r] = pick{i, v}
		y[i] = v
		lq += p.pair(int(i), x[i], v, g) - lse
	}
	return lq
}

func (p *gwgProposer) Reverse(k int, x, y []int32, gy []float64) float64 {
	p.score(y, gy)
	lse := logSumExp(p.lw)
	lq := 0.0
	for _, d := range p.path[k] {
		v := d.v
		if v == y[d.i] {
			v = x[d.i]
		}
		lq += p.pair(int(d.i), y[d.i], v, gy) - lse
	}
	return lq
}

func (s *GWG) Info() Info { return gwgInfo }

var gwgInfo = Info{
	Name: "gwg", Title: "Gibbs with gradients",
	Exact: true, Corrected: true,
	Doc: "changes one coordinate a step, chosen with its value from one softmax " +
		"over all changes (Grathwohl et al. 2021); draws above 1 is GWG-X",
	Needs: []Need{NeedGradients}, Cost: "1 energy and gradient",
	Params: []Param{
		balanceParam(func(s *GWG) *Balance { return &s.Balance }),
		countParam("draws", 1, 1, maxDraws, "changes drawn per step, with replacement",
			func(s *GWG) *int { return &s.Draws }),
	},
}
