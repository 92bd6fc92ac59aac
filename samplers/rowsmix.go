package samplers

import (
	"context"
	"math"
)

// gradientWork is what an energy and gradient costs, in energies with their rows: a backward pass
// takes about twice the time of a forward pass (Griewank and Walther 2008, section 4).
const gradientWork = 3

// mixture is the kernel of Rows with a share of Langevin steps. Which of the two kernels a chain
// takes is drawn first and depends on nothing, so that it leaves invariant what both do. Each keeps
// what it knows of the state a chain is in, and reads it again after the other has moved.
type mixture struct {
	c        *Chains
	rows     mixed
	langevin mixed
	share    []float64 // of Langevin steps, for each chain
	choose   bool      // Rows.LangevinIfPays
}

// mixed is one of the kernels of a mixture.
type mixed struct {
	*mhKernel
	stale   []bool    // what is kept of the state is that of an earlier one
	started []bool    // the proposal has seen a state
	jumps   []float64 // Σ of expected coordinates changed, in the second half of the burn-in
	work    []float64 // of these steps

	again []int // chains that refresh read again in this step
	x     [][]int32
	u     []float64
	g     [][]float64
}

// newRowsMixture is the kernel of s, whose Langevin is above 0.
func newRowsMixture(c *Chains, s *Rows) (Kernel, error) {
	// The Langevin kernel has a view of the chains with gradients in place of rows. States, energies,
	// counts and streams are the same slices.
	view := *c
	part := func(share float64) int {
		if c.Burnin == 0 {
			return 0
		}
		return max(2, int(math.Round(share*float64(c.Burnin))))
	}
	rows, err := s.kernel(c, part(1-s.Langevin))
	if err != nil {
		return nil, err
	}
	view.Burnin = part(s.Langevin) // as many of its steps adapt
	d, err := newDLP(&view, s.Name(), s.StepSize, Sqrt, nil, TargetAcceptance)
	if err != nil {
		return nil, err
	}
	view.Burnin = c.Burnin
	langevin, err := newDLPKernel(&view, d, MHOptions{})
	if err != nil {
		return nil, err
	}
	m := &mixture{c: c, rows: newMixed(rows, c), langevin: newMixed(langevin, c),
		share: make([]float64, c.Len()), choose: s.LangevinIfPays}
	for k := range m.share {
		m.share[k] = s.Langevin
	}
	return m, nil
}

func newMixed(k Kernel, c *Chains) mixed {
	n := c.Len()
	m := k.(*mhKernel)
	m.rest = make([]bool, n)
	return mixed{mhKernel: m, stale: make([]bool, n), started: make([]bool, n),
		jumps: make([]float64, n), work: make([]float64, n)}
}

// Prepare implements Preparer. Gradients are evaluated where the first step asks for them.
func (m *mixture) Prepare(ctx context.Context) error {
	if err := m.rows.Prepare(ctx); err != nil {
		return err
	}
	for k := range m.c.X {
		m.rows.started[k], m.rows.stale[k] = true, false
		m.langevin.started[k], m.langevin.stale[k] = false, true
	}
	if m.c.Burnin == 0 {
		m.langevin.freeze()
	}
	return nil
}

// Step implements Kernel.
func (m *mixture) Step(ctx context.Context) error {
	c := m.c
	m.langevin.c.done = c.done
	for k := range c.X {
		by := c.RNG[k].Float64() < m.share[k]
		m.rows.rest[k], m.langevin.rest[k] = by, !by
	}
	counts := c.Adapting() && c.done >= c.Burnin/2
	for _, p := range []*mixed{&m.rows, &m.langevin} {
		if err := p.refresh(ctx); err != nil {
			return err
		}
		if err := p.Step(ctx); err != nil {
			return err
		}
		if counts {
			m.account(p)
		}
	}
	for k, mv := range c.Last {
		other := &m.langevin
		if m.rows.rest[k] {
			other = &m.rows
			c.Stats[k].Langevin.add(mv)
		}
		if mv.Accepted {
			other.stale[k] = true
		}
	}
	if m.choose && counts && c.done+1 == c.Burnin {
		m.decide()
	}
	return nil
}

// refresh reads again what the kernel keeps of the chains that it moves in this step, where that is
// of an earlier state.
func (p *mixed) refresh(ctx context.Context) error {
	c := p.c
	p.again, p.x, p.g = p.again[:0], p.x[:0], p.g[:0]
	for k, x := range c.X {
		if !p.rest[k] && p.stale[k] {
			p.again, p.x, p.g = append(p.again, k), append(p.x, x), append(p.g, c.Grad[k])
		}
	}
	if len(p.again) == 0 {
		return nil
	}
	p.u = resize(p.u, len(p.again))
	if err := c.Evaluate(ctx, c.Present(p.again), p.x, p.u, p.g); err != nil {
		return err
	}
	for j, k := range p.again {
		c.Evaluated(k, p.x[j], p.u[j])
		p.stale[k] = false
		if r, ok := p.p.(Restarter); ok {
			r.Restart(k, p.x[j], p.g[j])
		}
		if s, ok := p.p.(Starter); ok && !p.started[k] {
			s.Start(k, p.x[j], p.g[j])
		}
		p.started[k] = true
	}
	return nil
}

// account enters what the steps of one of the kernels changed and cost. That rows are read again is
// on the account of the Langevin step that moved.
func (m *mixture) account(p *mixed) {
	unit := 1.0
	if p == &m.langevin {
		unit = gradientWork
	}
	for _, k := range p.again {
		m.langevin.work[k] += unit
	}
	for k, mv := range m.c.Last {
		if mv.Moved && !p.rests(k) {
			p.work[k] += unit
			p.jumps[k] += mv.Prob * float64(mv.Flips)
		}
	}
}

// decide drops the Langevin steps of the chains in which they changed less for their work. The
// jumps of a mixture over its work go from the one ratio to the other as the share does, so that
// the best share is at an end.
func (m *mixture) decide() {
	for k := range m.share {
		if m.langevin.jumps[k]*m.rows.work[k] < m.rows.jumps[k]*m.langevin.work[k] {
			m.share[k] = 0
		}
	}
}

// Retarget implements Retargeter.
func (m *mixture) Retarget(ctx context.Context) error {
	for k := range m.c.X {
		m.rows.stale[k], m.langevin.stale[k] = false, true
	}
	return m.rows.Retarget(ctx)
}

// Tuning implements Tuned.
func (m *mixture) Tuning(k int) map[string]float64 {
	all := m.rows.Tuning(k)
	all[langevinStep] = m.langevin.Tuning(k)["step-size"]
	return all
}
