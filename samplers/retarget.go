package samplers

import (
	"context"
	"fmt"
	"math"
)

// Retargeter is the ability of a Kernel to go on after its target has changed.
type Retargeter interface {
	// Retarget reads again what the kernel keeps of the target at the present states: energies,
	// gradients, rows, estimates. Chains.U is NaN when it is called. What the kernel adapted
	// stays as it is.
	Retarget(ctx context.Context) error
}

// Restarter is the ability of a Proposal to go on after the target has changed. A Proposal that is
// a Keeper or a Starter needs it for that. Others are taken to keep nothing.
type Restarter interface {
	// Restart drops what the proposal keeps of chain k's state x, where the gradient is now grad. What
	// was adapted stays as it is.
	Restart(k int, x []int32, grad []float64)
}

// Retarget tells the run that its target has changed, for instance its temperature. From the next
// step on the chains are those of the new target: what the sampler keeps of the present states is
// read again, in one call where the sampler uses energies, and counted as evaluations. States, step
// count, adapted values and random streams stay. What the target kept of the chains
// (Origins.Memory) is dropped. The domain must be the same.
//
// Each step is then one of a kernel of the target at that time. For a sampler that
// leaves π invariant (Info.Exact) it leaves the π of that time invariant.
//
// Errors: ErrUnsupported for a kernel that cannot do it, ErrState for a chain whose state has
// probability zero under the new target, or the target's own. After an error the run must not
// be used any further.
func (r *Run) Retarget(ctx context.Context) error {
	if err := r.started(); err != nil {
		return err
	}
	for k := range r.U {
		r.U[k] = math.NaN()
	}
	clear(r.memory)
	switch k := r.Kernel.(type) {
	case Retargeter:
		return k.Retarget(ctx)
	case Preparer:
		return fmt.Errorf("%w: the kernel of sampler %s cannot go on with another target; start "+
			"another run at its states", ErrUnsupported, r.name)
	}
	return r.StartEnergies(ctx)
}

// Retarget implements Retargeter.
func (m *mhKernel) Retarget(ctx context.Context) error {
	again, ok := m.p.(Restarter)
	_, starts := m.p.(Starter)
	if !ok && (starts || m.keep != nil) {
		return fmt.Errorf("%w: the proposal of sampler %s cannot go on with another target; start "+
			"another run at its states", ErrUnsupported, m.c.name)
	}
	if err := m.c.StartEnergies(ctx); err != nil {
		return err
	}
	if ok {
		for k, x := range m.c.X {
			again.Restart(k, x, m.gradOf(k))
		}
	}
	return nil
}

// Restart implements Restarter.
func (f *factorised) Restart(k int, _ []int32, _ []float64) { f.forget(k) }

// Restart implements Restarter.
func (p *rowsProposer) Restart(k int, _ []int32, rows []float64) { p.fill(&p.cur[k], rows) }

// Retarget implements Retargeter.
func (l *lb1Kernel) Retarget(ctx context.Context) error { return l.Prepare(ctx) }

// Retarget implements Retargeter. A conditional is asked for in every step, so nothing is kept.
func (g *gibbsKernel) Retarget(context.Context) error { return nil }

// Retarget implements Retargeter.
func (g *exactGibbs) Retarget(ctx context.Context) error { return g.Prepare(ctx) }

// Retarget implements Retargeter. Every step has a gradient of its own, so nothing is kept.
func (s *sgKernel) Retarget(context.Context) error { return nil }

// Retarget implements Retargeter. The caches are emptied, and each gets a new estimate.
func (s *sgdldKernel) Retarget(ctx context.Context) error {
	for k := range s.n {
		s.n[k], s.from[k] = 0, jump{i: -1}
	}
	return s.estimate(ctx, s.c.done)
}
