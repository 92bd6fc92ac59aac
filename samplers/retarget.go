package samplers

import (
	"context"
	"fmt"
	"math"
)

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
