package kernels

import (
	"context"
	"math"

	"infill/samplers"
)

// ExactGibbs resamples one coordinate a step from its exact conditional
//
//	θ_i ~ π(· | θ_{−i}) ∝ exp(U(·, θ_{−i}))
//
// (Geman and Geman 1984), taken from the target (samplers.Conditioner), else from Energy at every
// value of the coordinate. Cost: 1 conditional, after which Chains.U is NaN until Chains.Refresh,
// or K_i energies a step.
type ExactGibbs struct {
	Systematic bool // in the order of the coordinates; otherwise one at random each step
}

func (s *ExactGibbs) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	g := &exactGibbs{c: c, systematic: s.Systematic, n: newNeighbourhood(c)}
	most, widest := 0, 0
	for i := range c.Domain.Len() {
		most, widest = max(most, c.Domain.Support(i)), max(widest, c.Domain.K(i))
	}
	if g.n.native == nil {
		if err := checkMany(exactGibbsInfo.Name, float64(most)); err != nil {
			return nil, err
		}
	}
	g.qs, g.buf = make([]asked, c.Len()), matrix[float64](c.Len(), widest)
	g.cum = make([]float64, widest)
	return g, nil
}

type exactGibbs struct {
	c          *samplers.Chains
	systematic bool
	n          *neighbourhood
	qs         []asked // the conditional of each chain
	buf        [][]float64
	cum        []float64
}

// Prepare implements Kernel. A target that gives conditionals is not asked for energies.
func (g *exactGibbs) Prepare(ctx context.Context) error {
	if g.n.native != nil {
		return nil
	}
	return g.c.StartEnergies(ctx)
}

// Step implements Kernel. U is known after a move where it was evaluated.
func (g *exactGibbs) Step(ctx context.Context) error {
	c := g.c
	for k := range c.X {
		i := c.Done() % c.Domain.Len()
		if !g.systematic {
			i = c.RNG[k].IntN(c.Domain.Len())
		}
		g.qs[k] = asked{k, i, g.buf[k][:c.Domain.K(i)]}
	}
	if err := g.n.fill(ctx, c.X, g.qs); err != nil {
		return err
	}
	for k, x := range c.X {
		i, lp, m := g.qs[k].i, g.qs[k].u, samplers.Move{Prob: 1}
		if g.n.native != nil {
			c.Stats[k].Evals += 1 - c.Domain.Support(i) // a conditional is one
		} else {
			clean(c, k, lp, c.Domain.Coord(i).Allowed)
		}
		v, _ := drawLog(c.RNG[k], lp, g.cum)
		if v < 0 {
			c.Stats[k].NonFinite++
			m = samplers.Move{}
		} else if int32(v) != x[i] {
			x[i], c.U[k] = int32(v), lp[v]
			if g.n.native != nil {
				c.U[k] = math.NaN() // known up to a constant only
			}
			m.Moved, m.Accepted, m.Flips, m.Hamming = true, true, 1, 1
		}
		c.Last[k] = m
	}
	return nil
}

func (s *ExactGibbs) Info() samplers.Info { return exactGibbsInfo }

var exactGibbsInfo = samplers.Info{
	Name: "exact-gibbs", Title: "Gibbs", Exact: true,
	Doc:   "resamples one coordinate from its exact conditional",
	Needs: []samplers.Need{samplers.NeedEnergies}, Cost: "1 conditional or K energies",
	Params: []samplers.Param{{
		Name: "scan", Default: "random", Choices: []string{"random", "systematic"},
		Doc: "order in which coordinates are visited",
		Set: func(s samplers.Sampler, v samplers.Value) { s.(*ExactGibbs).Systematic = v.Word == 1 },
	}},
}
