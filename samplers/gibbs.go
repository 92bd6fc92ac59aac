package samplers

import (
	"context"
	"math"
)

// visit is the coordinate that chain k visits in its next step, in their order or at random.
func (c *Chains) visit(k int, systematic bool) int {
	if systematic {
		return c.done % c.Domain.Len()
	}
	return c.RNG[k].IntN(c.Domain.Len())
}

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
	cond, err := condOf(c, gibbsInfo.Name)
	if err != nil {
		return nil, err
	}
	return &gibbsKernel{c: c, systematic: s.Systematic, conditionals: cond}, nil
}

// condFunc fills log-conditionals.
type condFunc func(ctx context.Context, x [][]int32, i []int, logp [][]float64) error

// conditionals is the buffer for one conditional per chain.
type conditionals struct {
	cond condFunc
	i    []int
	buf  [][]float64
	lp   [][]float64
	cum  []float64
}

func newConditionals(c *Chains, cond condFunc) conditionals {
	n := c.Len()
	return conditionals{
		cond: cond, i: make([]int, n), buf: matrix[float64](n, c.Domain.maxK),
		lp: make([][]float64, n), cum: make([]float64, c.Domain.maxK),
	}
}

// condOf finds the target's conditionals.
func condOf(c *Chains, sampler string) (conditionals, error) {
	if t, ok := c.Target.(Conditioner); ok {
		return newConditionals(c, t.Conditional), nil
	}
	return conditionals{}, &abilityError{sampler, "conditionals (Conditional)",
		"dmala needs gradients in their place"}
}

// fill picks a coordinate for each chain and gets its conditional.
func (g *conditionals) fill(ctx context.Context, c *Chains, systematic bool) error {
	for k := range c.X {
		g.i[k] = c.visit(k, systematic)
		g.lp[k] = g.buf[k][:c.Domain.K(g.i[k])]
	}
	if err := g.cond(ctx, c.X, g.i, g.lp); err != nil {
		return err
	}
	for k := range c.X {
		maskOut(c.Domain, g.i[k], g.lp[k])
		c.Stats[k].Evals++
	}
	return nil
}

type gibbsKernel struct {
	c          *Chains
	systematic bool
	conditionals
}

// Prepare implements Kernel. The energies of the starts are not needed.
func (g *gibbsKernel) Prepare(context.Context) error { return nil }

// Step implements Kernel.
func (g *gibbsKernel) Step(ctx context.Context) error {
	if err := g.fill(ctx, g.c, g.systematic); err != nil {
		return err
	}
	for k, x := range g.c.X {
		m := Move{Prob: 1}
		v, _ := drawLog(g.c.RNG[k], g.lp[k], g.cum)
		if v < 0 {
			g.c.Stats[k].NonFinite++
			m = Move{}
		} else if int32(v) != x[g.i[k]] {
			x[g.i[k]] = int32(v)
			g.c.U[k] = math.NaN()
			m.Moved, m.Accepted, m.Flips, m.Hamming = true, true, 1, 1
		}
		g.c.Last[k] = m
	}
	return nil
}

func (s *Gibbs) Info() Info { return gibbsInfo }

var gibbsInfo = Info{
	Name: "gibbs", Title: "Gibbs of given conditionals",
	Doc: "resamples one coordinate from the conditional that the target gives (Wang and " +
		"Cho 2019); not exact where conditionals belong to no joint distribution",
	Needs: []Need{NeedConditionals}, Cost: "1 conditional",
	Params: []Param{scanParam(func(s Sampler) *bool { return &s.(*Gibbs).Systematic })},
}

func scanParam(systematic func(Sampler) *bool) Param {
	return Param{
		Name: "scan", Default: "random", Choices: []string{"random", "systematic"},
		Doc: "order in which coordinates are visited",
		Set: func(s Sampler, v Value) { *systematic(s) = v.Word == 1 },
	}
}
