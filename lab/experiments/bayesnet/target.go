package bayesnet

import (
	"context"
	"math/rand/v2"

	"infill/lab/internal/domain"
	"infill/samplers"
)

// posterior is the posterior of a network whose weights are −1 or 1:
//
//	U(θ) = −scale · mean_n (f(x_n) − y_n)²
//
// and a uniform prior. The paper has the sum over the data, thus scale N. Its public code has 100.
//
// States are bits, and weights 2θ−1. So the gradient, by θ, is twice that by the weights, and step
// sizes are the same as in the public code. Any number of runs may share it, at the same time too.
type posterior struct {
	n     network
	in    *inputs
	all   *folded // in's rows
	scale float64
	dom   *samplers.Domain
}

// newPosterior is the posterior. f are in's rows.
func newPosterior(n network, in *inputs, f *folded, scale float64) *posterior {
	return &posterior{n: n, in: in, all: f, scale: scale, dom: domain.Bits(n.weights())}
}

// sweep is one that has seen no weights yet.
func (t *posterior) sweep() *sweep { return t.all.sweep(t.n.hidden) }

// spins are the weights of a state.
func spins(x []int32) []float64 {
	w := make([]float64, len(x))
	for i, v := range x {
		w[i] = float64(2*v - 1)
	}
	return w
}

// Domain implements samplers.Target.
func (t *posterior) Domain() *samplers.Domain { return t.dom }

// energy is an estimate of U at any weights from the given rows, and its gradient by the weights in
// g, unless that is nil.
func (t *posterior) energy(w, g []float64, rows int, pick func(i int) int) float64 {
	p, u := t.n.at(t.in, w), 0.0
	scale := -t.scale / float64(rows)
	for i := range rows {
		r := pick(i)
		f := p.row(r)
		u += scale * (f - t.in.y[r]) * (f - t.in.y[r])
		if g != nil {
			p.gradient(r, f, scale, g)
		}
	}
	if g != nil {
		p.finish(g)
	}
	return u
}

// Energy implements samplers.Target.
func (t *posterior) Energy(_ context.Context, x [][]int32, u []float64) error {
	t.each(x, u, nil, t.always())
	return nil
}

// EnergyGrad implements samplers.Gradienter.
func (t *posterior) EnergyGrad(_ context.Context, x [][]int32, u []float64, g [][]float64) error {
	t.each(x, u, g, t.always())
	return nil
}

// ChainEnergy implements samplers.ChainEnergizer. Chains change few weights in a step, so that each
// keeps a sweep.
func (t *posterior) ChainEnergy(_ context.Context, from samplers.Origins, x [][]int32, u []float64,
	g [][]float64) error {
	t.each(x, u, g, func(k int) *sweep {
		kept := &from.Memory[from.Chain[k]]
		if *kept == nil {
			*kept = t.sweep()
		}
		return (*kept).(*sweep)
	})
	return nil
}

// always is the choice of one sweep for all states of a call.
func (t *posterior) always() func(int) *sweep {
	s := t.sweep()
	return func(int) *sweep { return s }
}

// each sets the energies of states, and their gradients unless g is nil, by a sweep for each.
func (t *posterior) each(x [][]int32, u []float64, g [][]float64, sweepOf func(k int) *sweep) {
	for k, s := range x {
		if g == nil {
			u[k] = t.whole(sweepOf(k), spins(s), nil)
			continue
		}
		clear(g[k])
		u[k] = t.whole(sweepOf(k), spins(s), g[k])
		twice(g[k])
	}
}

// whole is energy over all rows.
func (t *posterior) whole(s *sweep, w, g []float64) float64 {
	scale := -t.scale / float64(len(t.in.rows))
	return scale * s.energy(t.n.at(t.in, w), scale, g)
}

// twice makes a gradient by θ of one by the weights 2θ−1.
func twice(g []float64) {
	for i := range g {
		g[i] *= 2
	}
}

// StochasticGrad implements samplers.StochasticGradienter with rows drawn with replacement.
func (t *posterior) StochasticGrad(_ context.Context, x [][]int32, batch int, rng []*rand.Rand,
	u []float64, g [][]float64) error {
	for k, s := range x {
		clear(g[k])
		u[k] = t.energy(spins(s), g[k], batch, func(int) int { return rng[k].IntN(len(t.in.rows)) })
		twice(g[k])
	}
	return nil
}
