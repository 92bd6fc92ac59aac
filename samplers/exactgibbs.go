package samplers

import (
	"context"
)

// ExactGibbs resamples one coordinate a step from its exact conditional
//
//	θ_i ~ π(· | θ_{−i}) ∝ exp(U(·, θ_{−i}))
//
// (Geman and Geman 1984), taken from the target (Conditioner), else from Energy at every value of
// the coordinate. Cost: 1 conditional, after which Chains.U is NaN until Chains.Refresh, or K_i
// energies a step.
type ExactGibbs struct {
	Scan scan
}

func (s *ExactGibbs) Attach(c *Chains) (Kernel, error) {
	if err := s.Scan.check(exactGibbsInfo.Name); err != nil {
		return nil, err
	}
	if t := exactly(c.Target); t != nil {
		return &gibbsKernel{c: c, scan: s.Scan, conditionals: newConditionals(c, t.Conditional)}, nil
	}
	g := &exactGibbs{gibbsKernel: gibbsKernel{c: c, scan: s.Scan}, n: newNeighbourhood(c)}
	most := 0
	for _, f := range c.Domain.free {
		most = max(most, f)
	}
	if err := checkMany(exactGibbsInfo.Name, float64(most)); err != nil {
		return nil, err
	}
	g.qs = make([]asked, c.Len())
	g.conditionals = newConditionals(c, g.fromEnergies)
	return g, nil
}

type exactGibbs struct {
	gibbsKernel
	n  *neighbourhood
	qs []asked
}

// Prepare implements Kernel.
func (g *exactGibbs) Prepare(ctx context.Context) error { return g.c.StartEnergies(ctx) }

// fromEnergies is a condFunc.
func (g *exactGibbs) fromEnergies(ctx context.Context, x [][]int32, i []int, lp [][]float64) error {
	for k := range x {
		g.qs[k] = asked{k, i[k], lp[k]}
		g.c.Stats[k].Evals-- // fill of conditionals counts one
	}
	if err := g.n.fill(ctx, x, g.qs); err != nil {
		return err
	}
	for k := range x {
		g.c.clean(k, lp[k], g.c.Domain.coords[i[k]].Allowed)
	}
	return nil
}

// Step implements Kernel. U is known after the move.
func (g *exactGibbs) Step(ctx context.Context) error {
	if err := g.gibbsKernel.Step(ctx); err != nil {
		return err
	}
	for k, x := range g.c.X {
		if g.c.Last[k].Moved {
			g.c.U[k] = g.lp[k][x[g.i[k]]]
		}
	}
	return nil
}

func (s *ExactGibbs) Info() Info { return exactGibbsInfo }

var exactGibbsInfo = Info{
	Name: "exact-gibbs", Title: "Gibbs",
	Exact: true, Enumerates: true,
	Doc:   "resamples one coordinate from its exact conditional",
	Needs: []Need{NeedEnergies}, Cost: "1 conditional or K energies",
	Params: []Param{scanParam(func(s Sampler, v scan) { s.(*ExactGibbs).Scan = v })},
}
