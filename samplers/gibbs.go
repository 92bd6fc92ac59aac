package samplers

import (
	"context"
	"math"
	"math/rand/v2"
)

// Gibbs resamples one coordinate a step from the conditional that the target gives (Conditioner),
//
//	θ_i ~ f_i(· | θ_{−i})
//
// as Wang and Cho (2019) do, the Gibbs baseline of DLP. It is exact where f_i is the conditional of
// π, and NOT where it belongs to another distribution or to none; GibbsMH corrects it.
// Cost: one conditional a step and no energy: Chains.U is NaN after a move until Chains.Refresh.
type Gibbs struct {
	Systematic bool // visits coordinates in their order; otherwise one at random each step
}

func (s *Gibbs) Attach(c *Chains) (Kernel, error) {
	return newGibbs(c, gibbsInfo.Name, s.Systematic, true)
}

// newGibbs is the kernel of Gibbs, which is blind, and of GibbsMH.
func newGibbs(c *Chains, name string, systematic, blind bool) (Kernel, error) {
	t, ok := c.Target.(Conditioner)
	if !ok {
		return nil, &abilityError{name, "conditionals (Conditional)",
			"dmala needs gradients in their place"}
	}
	n := c.Len()
	p := &gibbsProposer{c: c, target: t, systematic: systematic, i: make([]int, n),
		buf: matrix[float64](n, c.Domain.maxK), lp: make([][]float64, n),
		cum: make([]float64, c.Domain.maxK), ratio: make([]float64, n)}
	return newMH(c, p, mhOptions{changed: p.changed, blind: blind})
}

// gibbsProposer draws one coordinate of each chain from its conditional. For U = Σ_j log f_j the la
// of GibbsMH is Σ_{j≠i} [log f_j(θ_j | θ'_{−j}) − log f_j(θ_j | θ_{−j})]: the proposal's own term
// cancels. Both of its probabilities are of one conditional and have its normaliser, so Reverse
// gives their ratio and Propose nothing.
type gibbsProposer struct {
	c          *Chains
	target     Conditioner
	systematic bool
	i          []int // the coordinate that each chain visits
	buf        [][]float64
	lp         [][]float64 // its conditional, in buf
	cum        []float64
	ratio      []float64 // log q(θ'→θ) − log q(θ→θ') of each chain's proposal
}

// Schedule implements scheduler: it picks a coordinate for each chain and gets its conditional.
func (g *gibbsProposer) Schedule(ctx context.Context, _ int, _ []bool) error {
	c := g.c
	for k := range c.X {
		if g.i[k] = c.done % c.Domain.Len(); !g.systematic {
			g.i[k] = c.RNG[k].IntN(c.Domain.Len())
		}
		g.lp[k] = g.buf[k][:c.Domain.K(g.i[k])]
	}
	if err := g.target.Conditional(ctx, c.X, g.i, g.lp); err != nil {
		return err
	}
	for k := range c.X {
		maskOut(c.Domain, g.i[k], g.lp[k])
		c.Stats[k].Evals++
	}
	return nil
}

// changed looks at the one coordinate that can differ.
func (g *gibbsProposer) changed(k int, x, y []int32) int {
	return hamming(x[g.i[k]:][:1], y[g.i[k]:][:1])
}

func (g *gibbsProposer) Propose(k int, x []int32, _ []float64, rng *rand.Rand, y []int32) float64 {
	i := g.i[k]
	v, _ := drawLog(rng, g.lp[k], g.cum)
	if v < 0 {
		return math.NaN()
	}
	y[i] = int32(v)
	g.ratio[k] = g.lp[k][x[i]] - g.lp[k][v]
	return 0
}

func (g *gibbsProposer) Reverse(k int, _, _ []int32, _ []float64) float64 { return g.ratio[k] }

func (s *Gibbs) Info() Info { return gibbsInfo }

var gibbsInfo = Info{
	Name: "gibbs", Title: "Gibbs of given conditionals",
	Doc: "resamples one coordinate from the conditional that the target gives (Wang and " +
		"Cho 2019); not exact where conditionals belong to no joint distribution",
	Needs: []Need{NeedConditionals}, Cost: "1 conditional",
	Params: []Param{scanParam(func(s *Gibbs) *bool { return &s.Systematic })},
}

func scanParam[S Sampler](systematic func(S) *bool) Param {
	return eitherParam("scan", [2]string{"random", "systematic"},
		"order in which coordinates are visited", systematic)
}

// GibbsMH proposes as Gibbs does, one coordinate from the target's conditional
// f_i, and corrects it with a Metropolis–Hastings step (Hastings 1970; with
// conditionals of no joint distribution: Goyal, Dyer, Berg-Kirkpatrick 2022):
//
//	la = U(θ') − U(θ) + log f_i(θ_i | θ_{−i}) − log f_i(θ'_i | θ_{−i})
//
// accepted with probability min(1, exp(la)). Cost: one conditional and, when the draw differs, one
// energy a step.
type GibbsMH struct {
	Systematic bool // as in Gibbs
}

func (s *GibbsMH) Attach(c *Chains) (Kernel, error) {
	return newGibbs(c, gibbsMHInfo.Name, s.Systematic, false)
}

func (s *GibbsMH) Info() Info { return gibbsMHInfo }

var gibbsMHInfo = Info{
	Name: "gibbs-mh", Title: "Gibbs of given conditionals, corrected",
	Exact: true, Corrected: true,
	Doc:    "the draw of gibbs with a Metropolis–Hastings correction",
	Needs:  []Need{NeedConditionals, NeedEnergies},
	Cost:   "1 conditional and, when the draw differs, 1 energy",
	Params: []Param{scanParam(func(s *GibbsMH) *bool { return &s.Systematic })},
}
