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
	// Adapt adapts X in the burn-in. It begins at Draws and stays between 1 and the number of
	// coordinates that can change. A fraction is used as in PAS.
	Adapt bool
	// NoSingles is as in PAS, for an adapted X. A given one is what every proposal draws.
	NoSingles bool
}

// maxDraws bounds GWG.Draws: more would only repeat coordinates.
const maxDraws = 1 << 12

func (s *GWG) Attach(c *Chains) (Kernel, error) {
	if err := s.Balance.check(gwgInfo.Name); err != nil {
		return nil, err
	}
	n := max(1, s.Draws)
	if err := checkCount(gwgInfo.Name, "draws", s.Draws, maxDraws); err != nil {
		return nil, err
	}
	flips := float64(n)
	if s.Adapt {
		flips = 0 // adapt it
	}
	cnt, err := newCounter(c, gwgInfo.Name, flips, 0, usualAcceptance, s.NoSingles)
	if err != nil {
		return nil, err
	}
	p := &gwgProposer{
		sites: newSites(c.Domain, s.Balance, cnt.free),
		cum:   make([]float64, max(len(cnt.free), c.Domain.maxK)),
		path:  make([][]pick, c.Len()),
		fixed: n,
	}
	if s.Adapt {
		most := len(cnt.free)
		for k := range cnt.r {
			cnt.r[k] = float64(min(n, most))
			cnt.tune[k] = newScaleTuner(cnt.r[k], 0, usualAcceptance, 1, float64(most), c.Burnin)
		}
		p.counter, n = cnt, most
	}
	for k := range p.path {
		p.path[k] = make([]pick, n)
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
	counter *counter // nil for a fixed number of draws
	fixed   int
	cum     []float64
	path    [][]pick // the draws of each chain's proposal
}

// Start implements Adapter.
func (p *gwgProposer) Start(int, []int32, []float64) {}

func (p *gwgProposer) Adapt(k int, m Move) {
	if p.counter != nil {
		p.counter.Adapt(k, m)
	}
}

func (p *gwgProposer) Freeze(k int) {
	if p.counter != nil {
		p.counter.Freeze(k)
	}
}

// Tuning implements Adapter.
func (p *gwgProposer) Tuning(k int) map[string]float64 {
	if p.counter == nil {
		return map[string]float64{"draws": float64(p.fixed)}
	}
	return map[string]float64{"draws": p.counter.r[k]}
}

func (p *gwgProposer) Propose(k int, x []int32, g []float64, rng *rand.Rand, y []int32) float64 {
	p.score(x, g)
	if p.bad() {
		return math.NaN()
	}
	if p.counter != nil {
		p.path[k] = p.path[k][:p.counter.draw(k, rng)]
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
	Needs: []Need{NeedGradients}, Cost: "1 energy and gradient", StepCalls: callsOfGradients,
	Params: []Param{
		balanceParam(func(s Sampler, v Balance) { s.(*GWG).Balance = v }),
		{
			Name: "draws", Default: "1", Min: 1, Max: maxDraws, Integer: true, Auto: true,
			Doc: "changes drawn per step, with replacement; auto adapts their number in " +
				"the burn-in",
			Set: func(s Sampler, v Value) { s.(*GWG).Draws, s.(*GWG).Adapt = int(v.Number), v.Number == 0 },
		},
		singlesParam(func(s Sampler) *bool { return &s.(*GWG).NoSingles }),
	},
}
