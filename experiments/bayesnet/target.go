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
	scale float64
	dom   *samplers.Domain
}

func newPosterior(n network, in *inputs, scale float64) *posterior {
	return &posterior{n, in, scale, samplers.Bits(n.weights())}
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

// energy is U at any weights, and its gradient by them in g, unless that is nil, over the given
// rows. all is the number of rows that these stand for.
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

func each(i int) int { return i }

// Energy implements samplers.Target.
func (t *posterior) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k, s := range x {
		u[k] = t.energy(spins(s), nil, len(t.in.rows), each)
	}
	return nil
}

// EnergyGrad implements samplers.Gradienter.
func (t *posterior) EnergyGrad(_ context.Context, x [][]int32, u []float64, g [][]float64) error {
	for k, s := range x {
		u[k] = t.byBits(s, g[k], len(t.in.rows), each)
	}
	return nil
}

// byBits is energy with the gradient by θ.
func (t *posterior) byBits(x []int32, g []float64, rows int, pick func(i int) int) float64 {
	clear(g)
	u := t.energy(spins(x), g, rows, pick)
	for i := range g {
		g[i] *= 2
	}
	return u
}

// StochasticGrad implements samplers.StochasticGradienter with rows drawn with replacement.
func (t *posterior) StochasticGrad(_ context.Context, x [][]int32, batch int, rng []*rand.Rand,
	u []float64, g [][]float64) error {
	for k, s := range x {
		u[k] = t.byBits(s, g[k], batch, func(int) int { return rng[k].IntN(len(t.in.rows)) })
	}
	return nil
}
