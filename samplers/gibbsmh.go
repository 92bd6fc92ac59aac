package samplers

import (
	"context"
	"math"
)

// GibbsMH proposes as Gibbs does, one coordinate from the masked conditional
// f_i, and corrects it with a Metropolis–Hastings step:
//
//	la = U(θ') − U(θ) + log f_i(θ_i | θ_{−i}) − log f_i(θ'_i | θ_{−i})
//
// For U = Σ_j log f_j this is Σ_{j≠i} [log f_j(θ_j | θ'_{−j}) −
// log f_j(θ_j | θ_{−j})]: the proposal's own term cancels. Exact.
// Cost: one conditional and, when the draw differs, one energy a step.
type GibbsMH struct {
	Scan Scan
}

// Name implements Sampler.
func (s *GibbsMH) Name() string { return "gibbs-mh" }

// Attach implements Sampler.
func (s *GibbsMH) Attach(c *Chains) (Kernel, error) {
	if err := s.Scan.check(s.Name()); err != nil {
		return nil, err
	}
	k := &gibbsMHKernel{
		gibbsKernel: gibbsKernel{c: c, scan: s.Scan}, y: matrix[int32](c.Len(), c.Domain.Len()),
		lq: make([]float64, c.Len()), u: make([]float64, c.Len()), idx: make([]int, 0, c.Len()), bx: make([][]int32, 0, c.Len()),
	}
	if err := k.bind(s.Name()); err != nil {
		return nil, err
	}
	return k, nil
}

type gibbsMHKernel struct {
	gibbsKernel
	y   [][]int32
	lq  []float64 // log q(θ'→θ) − log q(θ→θ')
	u   []float64
	idx []int
	bx  [][]int32
}

func (g *gibbsMHKernel) prepare(ctx context.Context) error { return g.c.startEnergies(ctx, nil) }

// Step implements Kernel.
func (g *gibbsMHKernel) Step(ctx context.Context) error {
	c := g.c
	if err := g.fill(ctx, c, g.scan); err != nil {
		return err
	}
	g.idx, g.bx = g.idx[:0], g.bx[:0]
	for k, x := range c.X {
		i := g.i[k]
		v, _ := drawLog(c.RNG[k], g.lp[k], g.cum)
		switch {
		case v < 0:
			c.Stats[k].NonFinite++
			c.Last[k] = Move{}
		case int32(v) == x[i]:
			c.Last[k] = Move{Accepted: true, Prob: 1}
		default:
			c.Last[k] = Move{Moved: true, Flips: 1}
			copy(g.y[k], x)
			g.y[k][i] = int32(v)
			g.lq[k] = g.lp[k][x[i]] - g.lp[k][v]
			g.idx, g.bx = append(g.idx, k), append(g.bx, g.y[k])
		}
	}
	if len(g.idx) > 0 {
		if err := c.Target.Energy(ctx, g.bx, g.u[:len(g.idx)]); err != nil {
			return err
		}
	}
	for j, k := range g.idx {
		u, st, mv := g.u[j], &c.Stats[k], &c.Last[k]
		st.Evals++
		la := u - c.U[k] + g.lq[k]
		switch {
		case math.IsInf(u, -1):
			st.Zero++
			continue
		case math.IsNaN(la) || math.IsInf(u, 1):
			st.NonFinite++
			continue
		}
		mv.Prob = math.Exp(math.Min(0, la))
		if la >= 0 || c.RNG[k].Float64() < mv.Prob {
			mv.Accepted, mv.Hamming = true, 1
			c.X[k], g.y[k] = g.y[k], c.X[k]
			c.U[k] = u
		}
	}
	for k := range c.X {
		c.record(k, c.Last[k])
	}
	return nil
}
