package bayesnet

import (
	"context"
	"math/rand/v2"

	"infill/samplers"
)

// posterior is that of a network whose weights are −1 or 1:
//
//	U(θ) = −scale · mean_n (f(x_n) − y_n)²
//
// and a uniform prior. The paper has the sum over the data, thus scale N. Its public code has 100.
//
// States are bits, and weights 2θ−1. So the gradient, by θ, is twice that by the weights, and
// step sizes are those of the public code.
type posterior struct {
	n     network
	in    *inputs
	all   *folded // in's rows
	scale float64
	dom   *samplers.Domain
	// Chains change few weights in a step. So each has a sweep, which is found by what it has.
	sweeps []*sweep
	chains int
}

// newPosterior is the posterior for some chains of one goroutine. f are in's rows.
func newPosterior(n network, in *inputs, f *folded, scale float64, chains int) *posterior {
	return &posterior{n: n, in: in, all: f, scale: scale, dom: samplers.Bits(n.weights()),
		chains: chains}
}

// nearest is the sweep with the fewest units of other weights, or a new one where all differ and
// not every chain has one.
func (t *posterior) nearest(w []float64) *sweep {
	best, least := -1, t.n.hidden
	for i, s := range t.sweeps {
		if n := s.others(t.n, w, make([]bool, t.n.hidden)); best < 0 || n < least {
			best, least = i, n
		}
	}
	if least == t.n.hidden && len(t.sweeps) < t.chains {
		t.sweeps = append(t.sweeps, t.all.sweep(t.n.hidden))
		best = len(t.sweeps) - 1
	}
	return t.sweeps[best]
}

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
	for k, s := range x {
		u[k] = t.whole(spins(s), nil)
	}
	return nil
}

// EnergyGrad implements samplers.Gradienter.
func (t *posterior) EnergyGrad(_ context.Context, x [][]int32, u []float64, g [][]float64) error {
	for k, s := range x {
		clear(g[k])
		u[k] = t.whole(spins(s), g[k])
		twice(g[k])
	}
	return nil
}

// whole is energy over all rows.
func (t *posterior) whole(w, g []float64) float64 {
	scale := -t.scale / float64(len(t.in.rows))
	return scale * t.nearest(w).energy(t.n.at(t.in, w), scale, g)
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
