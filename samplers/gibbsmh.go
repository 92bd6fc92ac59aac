package samplers

import (
	"context"
	"math"
	"math/rand/v2"
)

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
	cond, err := condOf(c, gibbsMHInfo.Name)
	if err != nil {
		return nil, err
	}
	p := &gibbsMHProposer{conditionals: cond, c: c, systematic: s.Systematic,
		ratio: make([]float64, c.Len())}
	return newMH(c, p, mhOptions{changed: p.changed})
}

// gibbsMHProposer is a proposer. For U = Σ_j log f_j its la is Σ_{j≠i} [log f_j(θ_j | θ'_{−j}) −
// log f_j(θ_j | θ_{−j})]: the proposal's own term cancels. Both of its probabilities are of one
// conditional and have its normaliser, so reverse gives their ratio and propose
// nothing.
type gibbsMHProposer struct {
	conditionals
	c          *Chains
	systematic bool
	ratio      []float64 // log q(θ'→θ) − log q(θ→θ') of each chain's proposal
}

// Schedule implements scheduler.
func (g *gibbsMHProposer) Schedule(ctx context.Context, _ int, _ []bool) error {
	return g.fill(ctx, g.c, g.systematic)
}

// changed looks at the one coordinate that can differ.
func (g *gibbsMHProposer) changed(k int, x, y []int32) int {
	return hamming(x[g.i[k]:][:1], y[g.i[k]:][:1])
}

func (g *gibbsMHProposer) Propose(k int, x []int32, _ []float64, rng *rand.Rand,
	y []int32) float64 {
	i := g.i[k]
	v, _ := drawLog(rng, g.lp[k], g.cum)
	if v < 0 {
		return math.NaN()
	}
	y[i] = int32(v)
	g.ratio[k] = g.lp[k][x[i]] - g.lp[k][v]
	return 0
}

func (g *gibbsMHProposer) Reverse(k int, _, _ []int32, _ []float64) float64 { return g.ratio[k] }

func (s *GibbsMH) Info() Info { return gibbsMHInfo }

var gibbsMHInfo = Info{
	Name: "gibbs-mh", Title: "Gibbs of given conditionals, corrected",
	Exact: true, Corrected: true,
	Doc:    "the draw of gibbs with a Metropolis–Hastings correction",
	Needs:  []Need{NeedConditionals, NeedEnergies},
	Cost:   "1 conditional and, when the draw differs, 1 energy",
	Params: []Param{scanParam(func(s Sampler) *bool { return &s.(*GibbsMH).Systematic })},
}
