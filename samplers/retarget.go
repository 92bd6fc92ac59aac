package samplers

import (
	"context"
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
