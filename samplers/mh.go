package samplers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
)

// MHOptions says what a Metropolis–Hastings kernel does besides proposing. The
// zero value proposes without gradients and tests every proposal.
type MHOptions struct {
	Gradient bool // the proposal is given ∇U (Gradienter)
	Rows     bool // in its place the rows of a state (RowConditioner), with −∞ outside the support
	// Uncorrected takes every proposal. Adaptation knows the acceptance probability all the same.
	Uncorrected bool
}

// NewMH returns the Metropolis–Hastings kernel of a proposal q: from θ it goes
// to the proposal θ' with probability
//
//	min(1, exp(U(θ') − U(θ) + log q(θ'→θ) − log q(θ→θ')))
//
// and stays otherwise (Hastings 1970). A proposal whose energy is NaN or +∞ is rejected and
// counted. Errors: ErrUnsupported where gradients or rows are missing, ErrParam where both are
// asked for. A step whose proposal leaves the domain, or its masks, is an ErrState.
func NewMH(c *Chains, p Proposal, o MHOptions) (Kernel, error) {
	if isNil(c) || isNil(p) {
		return nil, fmt.Errorf("%w: NewMH wants the chains that Attach was given, and a proposal",
			ErrParam)
	}
	if o.Gradient && o.Rows {
		return nil, fmt.Errorf("%w: a proposal is given gradients or rows, and both were asked for; "+
			"leave one out", ErrParam)
	}
	return newMH(c, p, mhOptions{MHOptions: o, check: true})
}

// mhOptions are those that proposals of this package have besides.
type mhOptions struct {
	MHOptions
	check   bool // the proposals' states are held against the domain
	anytime bool // a scheduler's steps go untested after the burn-in too
	// blind takes every proposal without its energy, which is not known then. Nothing adapts.
	blind bool
	// changed is the number of coordinates in which x and its proposal y differ, where that is known
	// without comparing all of them.
	changed func(k int, x, y []int32) int
}

// newMH is NewMH for a proposal of this package.
func newMH(c *Chains, p Proposal, o mhOptions) (Kernel, error) {
	m := &mhKernel{c: c, p: p, mhOptions: o}
	if o.changed == nil {
		m.changed = func(_ int, x, y []int32) int { return hamming(x, y) }
	}
	n := c.Len()
	if o.Gradient || o.Rows {
		need := c.NeedGradient
		if o.Rows {
			need = c.NeedRows
		}
		if err := need(); err != nil {
			return nil, err
		}
		m.gy = matrix[float64](n, len(c.Grad[0]))
		m.bg = make([][]float64, 0, n)
	}
	m.tune, _ = p.(Adapter)
	m.sched, _ = p.(scheduler)
	m.keep, _ = p.(keeper)
	m.free = make([]bool, n)
	m.y = matrix[int32](n, c.Domain.Len())
	m.u = make([]float64, n)
	m.fwd = make([]float64, n)
	m.idx = make([]int, 0, n)
	m.bx = make([][]int32, 0, n)
	return m, nil
}

// mhKernel is the step that all samplers which propose a whole state share.
type mhKernel struct {
	mhOptions
	c     *Chains
	p     Proposal
	tune  Adapter   // nil when nothing is adapted
	keep  keeper    // nil when the proposal keeps nothing
	sched scheduler // nil when (x, ∇U) is all that a proposal needs
	begun bool      // Prepare was called
	free  []bool    // chain's step goes without acceptance test

	y   [][]int32
	u   []float64
	gy  [][]float64 // nil without gradients and rows
	fwd []float64
	idx []int // chains whose proposal is evaluated
	bx  [][]int32
	bg  [][]float64 // nil without gradients and rows
}

// Prepare implements Kernel.
func (m *mhKernel) Prepare(ctx context.Context) error {
	if m.blind {
		return nil
	}
	if err := m.c.StartEnergies(ctx); err != nil {
		return err
	}
	if m.keep != nil {
		for k, x := range m.c.X {
			m.keep.Enter(k, x, m.gradOf(k))
		}
	}
	if m.begun {
		return nil
	}
	m.begun = true
	if m.tune != nil {
		for k, x := range m.c.X {
			m.tune.Start(k, x, m.gradOf(k))
		}
	}
	if m.c.Burnin == 0 {
		m.freeze()
	}
	return nil
}

// freeze ends the adaptation.
func (m *mhKernel) freeze() {
	if m.tune != nil {
		for k := range m.c.X {
			m.tune.Freeze(k)
		}
	}
}

// gradOf is ∇U at chain k's state, or its rows, nil for samplers without either.
func (m *mhKernel) gradOf(k int) []float64 {
	if m.c.Grad == nil {
		return nil
	}
	return m.c.Grad[k]
}

// Step implements Kernel.
func (m *mhKernel) Step(ctx context.Context) error {
	c := m.c
	if m.sched != nil {
		clear(m.free)
		if err := m.sched.Schedule(ctx, c.done, m.free); err != nil {
			return err
		}
		if !m.anytime && !c.Adapting() {
			clear(m.free)
		}
	}
	if err := m.propose(); err != nil {
		return err
	}
	if m.blind {
		for _, k := range m.idx {
			c.Last[k].Prob = 1
			m.take(k, math.NaN())
		}
		return nil
	}
	if len(m.idx) > 0 {
		if err := c.Evaluate(ctx, m.idx, m.bx, m.u[:len(m.idx)], m.bg); err != nil {
			return err
		}
	}
	for j, k := range m.idx {
		m.decide(k, m.u[j])
	}
	if m.tune != nil && c.Adapting() {
		for k := range c.X {
			m.tune.Adapt(k, c.Last[k])
		}
		if c.done+1 == c.Burnin {
			m.freeze()
		}
	}
	return nil
}

// propose draws the proposals of all chains and collects those to evaluate.
func (m *mhKernel) propose() error {
	c := m.c
	m.idx, m.bx, m.bg = m.idx[:0], m.bx[:0], m.bg[:0]
	for k, x := range c.X {
		copy(m.y[k], x)
		m.fwd[k] = m.p.Propose(k, x, m.gradOf(k), c.RNG[k], m.y[k])
		if !finite(m.fwd[k]) {
			c.Last[k] = Move{}
			c.Stats[k].NonFinite++
			continue
		}
		if m.check { // a target would read beyond its tables, or take it for a state
			if err := c.Domain.Check(m.y[k]); err != nil {
				return fmt.Errorf("sampler %s proposes no state for chain %d: %w", c.name, k, err)
			}
		}
		d := m.changed(k, x, m.y[k])
		c.Last[k] = Move{Moved: d > 0, Flips: d}
		if d == 0 {
			c.Last[k].Prob = 1
			continue
		}
		m.idx = append(m.idx, k)
		m.bx = append(m.bx, m.y[k])
		if m.gy != nil {
			m.bg = append(m.bg, m.gy[k])
		}
	}
	return nil
}

// decide accepts or rejects the proposal of chain k, whose energy is u.
func (m *mhKernel) decide(k int, u float64) {
	c := m.c
	mv := &c.Last[k]
	st := &c.Stats[k]
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
	back := m.p.Reverse(k, c.X[k], m.y[k], gy)
	if math.IsNaN(back) || math.IsInf(back, 1) {
		st.NonFinite++
		return
	}
	la := u - c.U[k] + back - m.fwd[k]
	mv.Prob = acceptance(la)
	if m.Uncorrected || m.free[k] || accept(c.RNG[k], la, mv.Prob) {
		m.take(k, u)
	}
}

// take moves chain k to its proposal, whose energy is u.
func (m *mhKernel) take(k int, u float64) {
	c := m.c
	c.Last[k].Accepted, c.Last[k].Hamming = true, c.Last[k].Flips
	c.U[k] = u
	c.X[k], m.y[k] = m.y[k], c.X[k]
	if m.keep != nil {
		m.keep.Accepted(k)
	}
	if m.gy != nil {
		c.Grad[k], m.gy[k] = m.gy[k], c.Grad[k]
	}
}

// Tuning is what Run.Tuning gives.
func (m *mhKernel) Tuning(k int) map[string]float64 {
	if m.tune != nil {
		return m.tune.Tuning(k)
	}
	return nil
}

// acceptance is min(1, exp(la)), the probability of accepting a move whose
// Metropolis–Hastings ratio has the logarithm la.
func acceptance(la float64) float64 { return math.Exp(math.Min(0, la)) }

// accept draws with that probability, prob; where la says that it is 1, nothing
// is drawn.
func accept(rng *rand.Rand, la, prob float64) bool { return la >= 0 || rng.Float64() < prob }

func hamming(x, y []int32) int {
	n := 0
	for i, v := range x {
		if y[i] != v {
			n++
		}
	}
	return n
}
