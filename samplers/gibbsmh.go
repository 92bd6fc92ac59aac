package samplers

import (
	"context"
	"math"
	"math/rand/v2"
)

// GibbsMH proposes as Gibbs does, one coordinate from the masked conditional
// f_i, and corrects it with a Metropolis–Hastings step (Hastings 1970; with the
// conditionals of a masked language model: Goyal, Dyer, Berg-Kirkpatrick 2022):
//
//	la = U(θ') − U(θ) + log f_i(θ_i | θ_{−i}) − log f_i(θ'_i | θ_{−i})
//
// accepted with probability min(1, exp(la)).
// For U = Σ_j log f_j this is Σ_{j≠i} [log f_j(θ_j | θ'_{−j}) −
// log f_j(θ_j | θ_{−j})]: the proposal's own term cancels. Exact.
// Cost: one conditional and, when the draw differs, one energy a step. The zero
// value visits coordinates at random.
type GibbsMH struct {
	Scan Scan // order of the coordinates; the zero value is RandomScan
}

// Name implements Sampler.
func (s *GibbsMH) Name() string { return "gibbs-mh" }

// Attach implements Sampler.
func (s *GibbsMH) Attach(c *Chains) (Kernel, error) {
	if err := s.Scan.check(s.Name()); err != nil {
		return nil, err
	}
	cond, err := condOf(c, s.Name())
	if err != nil {
		return nil, err
	}
	p := &gibbsMHProposer{conditionals: cond, c: c, scan: s.Scan, ratio: make([]float64, c.Len())}
	return NewMH(c, p, MHOptions{})
}

// gibbsMHProposer is a proposer. Both of its probabilities are of one
// conditional and have its normaliser, so reverse gives their ratio and propose
// nothing.
type gibbsMHProposer struct {
	conditionals
	c     *Chains
	scan  Scan
	ratio []float64 // log q(θ'→θ) − log q(θ→θ') of each chain's proposal
}

// Ask implements Asker.
func (g *gibbsMHProposer) Ask(ctx context.Context) error { return g.fill(ctx, g.c, g.scan) }

// Changed implements Counter.
func (g *gibbsMHProposer) Changed(k int, x, y []int32) int {
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

// Info implements Describer.
func (s *GibbsMH) Info() Info { return gibbsMHInfo }

var gibbsMHInfo = Info{
	Name: "gibbs-mh", Title: "Masked-conditional Gibbs, corrected",
	Exact: true, Corrected: true,
	Doc:   "the draw of gibbs with a Metropolis–Hastings correction",
	Needs: Needs{NeedConditionals, NeedEnergies},
	Cost: "1 conditional and, when the draw differs, 1 energy (on text 1 row, and " +
		"then m rows for m tokens)",
	Params: []Param{scanParam(func(s Sampler, v Scan) { s.(*GibbsMH).Scan = v })},
	make:   func() Sampler { return &GibbsMH{} },
}
