package kernels

import (
	"math"
	"math/rand/v2"

	"infill/samplers"
)

// GWGX is samplers.GWG with a number X of draws that the burn-in adapts. It begins at Draws and
// stays between 1 and the number of coordinates that can change. A fraction is used as in PAS.
type GWGX struct {
	Balance   samplers.Balance // g
	Draws     int              // where X begins; 0 means 1
	NoSingles bool             // as in PAS
}

// maxDraws bounds GWGX.Draws.
const maxDraws = 1 << 12

func (s *GWGX) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	p, err := s.proposer(c)
	if err != nil {
		return nil, err
	}
	return samplers.NewMH(c, p, samplers.MHOptions{Gradient: true})
}

func (s *GWGX) proposer(c *samplers.Chains) (*gwgxProposer, error) {
	if err := checkBalance(gwgxInfo.Name, s.Balance); err != nil {
		return nil, err
	}
	if err := checkCount(gwgxInfo.Name, "draws", s.Draws, maxDraws); err != nil {
		return nil, err
	}
	cnt, err := newCounter(c, gwgxInfo.Name, 0, 0, usualAcceptance, s.NoSingles)
	if err != nil {
		return nil, err
	}
	most := len(cnt.free)
	p := &gwgxProposer{counter: cnt, sites: newSites(c.Domain, s.Balance, cnt.free)}
	for k := range cnt.r {
		cnt.r[k] = float64(min(max(1, s.Draws), most))
		cnt.tune[k] = newScaleTuner(cnt.r[k], usualAcceptance, 1, float64(most), c.Burnin)
		p.path = append(p.path, make([]pick, most))
	}
	return p, nil
}

// pick is one drawn change: coordinate i to value v.
type pick struct{ i, v int32 }

// gwgxProposer is the proposal of GWGX. The reverse draws are made by exchanging, in a coordinate
// that was drawn more than once, the old and the new value, which maps θ' with them back to θ with
// the draws.
type gwgxProposer struct {
	*counter
	*sites
	path [][]pick // the draws of each chain's proposal
}

// Tuning implements samplers.Adapter.
func (p *gwgxProposer) Tuning(k int) map[string]float64 {
	return map[string]float64{"draws": p.r[k]}
}

func (p *gwgxProposer) Propose(k int, x []int32, g []float64, rng *rand.Rand, y []int32) float64 {
	p.score(x, g)
	if p.bad() {
		return math.NaN()
	}
	p.path[k] = p.path[k][:p.draw(k, rng)]
	lq := 0.0
	for r := range p.path[k] {
		j, lse := drawLog(rng, p.lw, p.cum)
		i := p.sites.free[j]
		v := 1 - x[i]
		if !p.binary(int(i)) {
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

func (p *gwgxProposer) Reverse(k int, x, y []int32, gy []float64) float64 {
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

func (s *GWGX) Info() samplers.Info { return gwgxInfo }

var gwgxInfo = samplers.Info{
	Name: "gwg-x", Title: "Gibbs with gradients, adapted draws",
	Exact: true, Corrected: true,
	Doc:   "gwg with a number of draws that the burn-in adapts",
	Needs: []samplers.Need{samplers.NeedGradients}, Cost: "1 energy and gradient",
	Params: []samplers.Param{
		balanceParam(func(s samplers.Sampler) *samplers.Balance {
			return &s.(*GWGX).Balance
		}),
		countParam("draws", 1, maxDraws, "changes drawn per step at first, with replacement",
			func(s samplers.Sampler, v int) { s.(*GWGX).Draws = v }),
		singlesParam(func(s samplers.Sampler) *bool { return &s.(*GWGX).NoSingles }),
	},
}
