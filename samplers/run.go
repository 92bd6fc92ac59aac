package samplers

import (
	"context"
	"fmt"
	"math"
)

// Options of a run. The zero value is seed 0, no burn-in.
type Options struct {
	Seed uint64
	ID   string // names the problem, so that each has streams of its own
	// First is the number of the first chain: chain k draws from NewStream(Seed, ID, First+k).
	First int
	// Burnin is the number of first steps in which step sizes and the like are adapted. Their states
	// are not draws of the target. 0: automatic parameters keep their starting values.
	Burnin int
	// Evaluated, if not nil, is called for every state whose energy was evaluated, with the number
	// of its chain in the run. u may be −∞ or not a number. x must be neither kept nor changed.
	Evaluated func(chain int, x []int32, u float64)
}

// Run is a sampler at work on a target, made by [Start]. Steps of one that was not started are
// errors (ErrParam).
type Run struct {
	*Chains
	Sampler Sampler
	kernel  Kernel
}

// Start begins one chain at each state of x0, which is copied, and prepares the sampler's kernel.
// Errors: a start outside the domain or, where it is evaluated, of probability zero (ErrState), no
// sampler or a parameter out of range or no context (ErrParam), no target or domain (ErrDomain), a
// missing ability (ErrUnsupported), or the target's own.
func Start(ctx context.Context, s Sampler, t Target, x0 [][]int32, opt Options) (*Run, error) {
	switch {
	case ctx == nil:
		return nil, errNoContext
	case isNil(s):
		return nil, fmt.Errorf("%w: no sampler to start; give one, such as &DMALA{}", ErrParam)
	case isNil(t) || t.Domain() == nil:
		return nil, fmt.Errorf("%w: no target, or one without a domain; its Domain returns what "+
			"NewDomain makes", ErrDomain)
	case len(x0) == 0:
		return nil, fmt.Errorf("%w: no chain to start; give one start state per chain", ErrState)
	case opt.Burnin < 0:
		return nil, &ParamError{s.Info().Name, "burn-in", fmt.Sprint(opt.Burnin), "0 or more steps"}
	}
	c := &Chains{Target: t, Domain: t.Domain(), Burnin: opt.Burnin, name: s.Info().Name,
		seen: opt.Evaluated, memory: make([]any, len(x0)), all: everyChain(len(x0))}
	for k, x := range x0 {
		if err := c.Domain.Check(x); err != nil {
			return nil, fmt.Errorf("chain %d: %w", k, err)
		}
		c.X = append(c.X, append([]int32(nil), x...))
		c.U = append(c.U, math.NaN())
		c.LogWeight = append(c.LogWeight, 0)
		c.RNG = append(c.RNG, NewStream(opt.Seed, opt.ID, opt.First+k))
	}
	c.Last = make([]Move, len(x0))
	c.Stats = make([]Stats, len(x0))
	kern, err := s.Attach(c)
	if err != nil {
		return nil, err
	}
	if isNil(kern) {
		return nil, fmt.Errorf("%w: sampler %s has no kernel for this target", ErrUnsupported, c.name)
	}
	if err := kern.Prepare(ctx); err != nil {
		return nil, err
	}
	return &Run{Chains: c, Sampler: s, kernel: kern}, nil
}

// errNoContext is the error of a context that was forgotten.
var errNoContext = fmt.Errorf("%w: the context is nil; pass context.Background()", ErrParam)

// started refuses a run that Start has not made.
func (r *Run) started() error {
	if r == nil || r.Chains == nil || r.kernel == nil {
		return fmt.Errorf("%w: the run has no chains; make it with Start", ErrParam)
	}
	return nil
}

// Step advances every chain by one step. After an error the run is of no more use.
func (r *Run) Step(ctx context.Context) error {
	if ctx == nil {
		return errNoContext
	}
	if err := r.started(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	clear(r.Last)
	if err := r.kernel.Step(ctx); err != nil {
		return err
	}
	r.count()
	r.done++
	return nil
}

// Sample makes what is left of the burn-in, forgets its counts, makes n steps
// and calls each visit that is not nil after each of these, so that visits see draws of the
// target only. No step is made for n below 1. An error of a visit ends it and is returned.
func (r *Run) Sample(ctx context.Context, n int, visit ...func(*Run) error) error {
	if err := r.started(); err != nil {
		return err
	}
	if left := r.Burnin - r.done; left > 0 {
		if err := r.Steps(ctx, left, nil); err != nil {
			return err
		}
		r.ResetStats()
	}
	return r.Steps(ctx, n, func(r *Run) error {
		for _, v := range visit {
			if v == nil {
				continue
			}
			if err := v(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// Steps makes n steps, of the burn-in or after it, and calls visit, if not nil, after each.
func (r *Run) Steps(ctx context.Context, n int, visit func(*Run) error) error {
	for range n {
		if err := r.Step(ctx); err != nil {
			return err
		}
		if visit != nil {
			if err := visit(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// Tuning returns the current value of each quantity that the sampler adapts for chain k, such as
// "step-size", nil when nothing.
func (r *Run) Tuning(k int) map[string]float64 {
	if t, ok := r.kernel.(tuned); ok {
		return t.Tuning(k)
	}
	return nil
}

// Retarget tells the run that its target has changed, for instance its temperature: what the
// sampler keeps of the present states is read again and counted as evaluations, and Origins.Memory
// is dropped. States, step count, adapted values and random streams stay. The domain must be the
// same.
//
// Errors: ErrState for a chain whose state has probability zero under the new target, or the
// target's own. After an error the run must not be used any further.
func (r *Run) Retarget(ctx context.Context) error {
	if err := r.started(); err != nil {
		return err
	}
	for k := range r.U {
		r.U[k] = math.NaN()
	}
	clear(r.memory)
	return r.kernel.Prepare(ctx)
}

// rescaler is a Kernel that can go on after its target was raised to a power.
type rescaler interface {
	// rescale multiplies what the kernel keeps of U by f. It reports false when it cannot, having
	// changed nothing.
	rescale(f float64) bool
}

// Rescale tells the run that U has been multiplied by f, a number above 0: by the old temperature
// divided by the new one, in annealing. It does what Retarget does, but SGDLD keeps its cache.
// Errors: ErrParam for another f, else those of Retarget.
func (r *Run) Rescale(ctx context.Context, f float64) error {
	if err := r.started(); err != nil {
		return err
	}
	if !(f > 0) || math.IsInf(f, 1) {
		return &ParamError{r.name, "the factor of U", fmt.Sprint(f), "a finite number above 0"}
	}
	if k, ok := r.kernel.(rescaler); ok && k.rescale(f) {
		for k := range r.U {
			r.U[k] *= f
		}
		return nil
	}
	return r.Retarget(ctx)
}

// rescale implements rescaler. Ratios of means of ψ do not follow from those of another
// temperature, so it is refused where the estimates are of that kind.
func (s *sgdldKernel) rescale(f float64) bool {
	if s.means {
		return false
	}
	for k := range s.n {
		for j := range s.sumNum[k] {
			s.sumNum[k][j] *= f
			s.delta[k][j] *= f
		}
		if s.s.Time > 0 { // the probability of a jump depends on Z
			s.setRates(k, s.c.done, false)
		}
	}
	return true
}
