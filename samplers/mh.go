package samplers

import (
	"context"
	"math"
	"math/rand/v2"
)

// proposer is a Metropolis–Hastings proposal with, where needed, an auxiliary
// variable (the path of PAS, the draws of GWG) that is kept per chain between
// propose and reverse.
type proposer interface {
	// propose writes a state to y, which holds a copy of x, and returns
	// log q(x→y). x is the current state of chain k. NaN means that the gradient g
	// at x, or what else the proposal is drawn from, is unusable. A term that
	// reverse has too may be left out of both.
	propose(k int, x []int32, g []float64, rng *rand.Rand, y []int32) float64
	// reverse returns log q(y→x), given the gradient gy at y.
	reverse(k int, x, y []int32, gy []float64) float64
}

// adapter is the optional ability of a proposer to learn from each step of the
// burn-in, and to be told when it is over.
type adapter interface {
	adapt(k int, m Move)
	freeze(k int)
}

// starter is the optional ability of a proposer to choose its starting scale
// from a chain's start.
type starter interface {
	start(k int, x []int32, g []float64)
}

// scheduler is the optional ability of a proposer to set its scale anew for
// every step; uncorrected skips the acceptance test of this step.
type scheduler interface {
	schedule(k, done int) (uncorrected bool)
}

// asker is the optional ability of a proposer of single changes to ask the
// target, for all chains in one call, what the proposals of a step need.
type asker interface {
	ask(ctx context.Context) error
	// changed is the Hamming distance of x and the proposal y, 0 or 1, found
	// without comparing all coordinates.
	changed(k int, x, y []int32) int
}

// cacher is the optional ability of a proposer to keep what it worked out in
// reverse for proposals from the accepted state.
type cacher interface{ accepted(k int) }

// mhKernel is the step shared by all samplers that propose a whole state:
//
//	accept y with probability min(1, exp(U(y) − U(x) + log q(y→x) − log q(x→y)))
//
// in log space, with (U, ∇U) of the current state kept. With exact false the
// proposal is taken whatever that probability, which is still computed because
// adaptation uses it.
type mhKernel struct {
	c     *Chains
	p     proposer
	tune  adapter   // nil when nothing is adapted
	cache cacher    // nil when the proposer keeps nothing
	sched scheduler // nil when the scale does not change by itself
	first asker     // nil when (x, ∇U) is all that a proposal needs
	grad  Gradienter
	exact bool
	free  []bool // chain's step goes without acceptance test

	y    [][]int32
	u    []float64
	gy   [][]float64
	fwd  []float64
	idx  []int // chains whose proposal is evaluated
	bx   [][]int32
	bg   [][]float64
	over bool // burn-in is over
}

func newMH(c *Chains, p proposer, grad Gradienter, exact bool) *mhKernel {
	n := c.Len()
	m := &mhKernel{c: c, p: p, grad: grad, exact: exact}
	m.tune, _ = p.(adapter)
	m.sched, _ = p.(scheduler)
	m.cache, _ = p.(cacher)
	m.first, _ = p.(asker)
	m.free = make([]bool, n)
	m.y = matrix[int32](n, c.Domain.Len())
	m.u = make([]float64, n)
	m.fwd = make([]float64, n)
	m.idx = make([]int, 0, n)
	m.bx = make([][]int32, 0, n)
	if grad != nil {
		m.gy = matrix[float64](n, c.Domain.GradLen())
		m.bg = make([][]float64, 0, n)
	}
	return m
}

func (m *mhKernel) prepare(ctx context.Context) error {
	if err := m.c.startEnergies(ctx, m.grad); err != nil {
		return err
	}
	if s, ok := m.p.(starter); ok {
		for k, x := range m.c.X {
			s.start(k, x, m.gradOf(k))
		}
	}
	return nil
}

// gradOf is ∇U at chain k's state, nil for samplers without gradients.
func (m *mhKernel) gradOf(k int) []float64 {
	if m.c.Grad == nil {
		return nil
	}
	return m.c.Grad[k]
}

// Step implements Kernel.
func (m *mhKernel) Step(ctx context.Context) error {
	c := m.c
	adapting := m.tune != nil && c.Adapting()
	if m.tune != nil && !adapting && !m.over {
		for k := range c.X {
			m.tune.freeze(k)
		}
		m.over = true
	}
	if m.first != nil {
		if err := m.first.ask(ctx); err != nil {
			return err
		}
	}
	m.idx, m.bx, m.bg = m.idx[:0], m.bx[:0], m.bg[:0]
	for k, x := range c.X {
		copy(m.y[k], x)
		if m.sched != nil {
			m.free[k] = m.sched.schedule(k, c.done)
		}
		m.fwd[k] = m.p.propose(k, x, m.gradOf(k), c.RNG[k], m.y[k])
		if math.IsNaN(m.fwd[k]) {
			c.Last[k] = Move{}
			c.Stats[k].NonFinite++
			continue
		}
		d := 0
		if m.first != nil {
			d = m.first.changed(k, x, m.y[k])
		} else {
			d = hamming(x, m.y[k])
		}
		c.Last[k] = Move{Moved: d > 0, Flips: d}
		if d > 0 {
			m.idx = append(m.idx, k)
			m.bx = append(m.bx, m.y[k])
			if m.grad != nil {
				m.bg = append(m.bg, m.gy[k])
			}
		} else {
			c.Last[k].Accepted, c.Last[k].Prob = true, 1
		}
	}
	if len(m.idx) > 0 {
		var err error
		if m.grad != nil {
			err = m.grad.EnergyGrad(ctx, m.bx, m.u[:len(m.idx)], m.bg)
		} else {
			err = c.Target.Energy(ctx, m.bx, m.u[:len(m.idx)])
		}
		if err != nil {
			return err
		}
	}
	for j, k := range m.idx {
		m.decide(k, m.u[j])
	}
	for k := range c.X {
		c.record(k, c.Last[k])
		if adapting {
			m.tune.adapt(k, c.Last[k])
		}
	}
	return nil
}

// decide accepts or rejects the proposal of chain k, whose energy is u.
func (m *mhKernel) decide(k int, u float64) {
	c := m.c
	mv := &c.Last[k]
	st := &c.Stats[k]
	st.Evals++
	if math.IsNaN(u) || math.IsInf(u, 1) {
		st.NonFinite++
		return
	}
	if math.IsInf(u, -1) {
		st.Zero++
		return
	}
	var gy []float64
	if m.gy != nil {
		gy = m.gy[k]
	}
	back := m.p.reverse(k, c.X[k], m.y[k], gy)
	if math.IsNaN(back) || math.IsInf(back, 1) {
		st.NonFinite++
		return
	}
	la := u - c.U[k] + back - m.fwd[k]
	mv.Prob = acceptance(la)
	if !m.exact || m.free[k] || accept(c.RNG[k], la, mv.Prob) {
		mv.Accepted = true
		mv.Hamming = mv.Flips
		c.U[k] = u
		c.X[k], m.y[k] = m.y[k], c.X[k]
		if m.cache != nil {
			m.cache.accepted(k)
		}
		if m.gy != nil {
			c.Grad[k], m.gy[k] = m.gy[k], c.Grad[k]
		}
	}
}

// acceptance is min(1, exp(la)), the probability of accepting a move whose
// Metropolis–Hastings ratio has the logarithm la.
func acceptance(la float64) float64 { return math.Exp(math.Min(0, la)) }

// accept draws with that probability, prob; where la says that it is 1, nothing
// is drawn.
func accept(rng *rand.Rand, la, prob float64) bool { return la >= 0 || rng.Float64() < prob }

// Tuning implements Tuned.
func (m *mhKernel) Tuning(k int) map[string]float64 {
	if t, ok := m.p.(Tuned); ok {
		return t.Tuning(k)
	}
	return nil
}

func hamming(x, y []int32) int {
	n := 0
	for i, v := range x {
		if y[i] != v {
			n++
		}
	}
	return n
}
