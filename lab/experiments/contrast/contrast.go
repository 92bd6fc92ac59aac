// Package contrast makes the states that stand for a model while it is learned by contrastive
// divergence, with any sampler.
package contrast

import (
	"context"

	"infill/samplers"
)

// A Negative makes the states that stand for the model in iteration it, from 0. It may read batch,
// the data of the iteration, and must not change it. The states are valid until the next call.
type Negative func(ctx context.Context, it int, batch [][]int32) ([][]int32, error)

// Persistent is persistent contrastive divergence (Tieleman 2008) with a sampler: chains that go on
// from iteration to iteration, with the given steps in each. They begin at start.
func Persistent(ctx context.Context, t samplers.Target, s samplers.Sampler, start [][]int32,
	steps int, o samplers.Options) (Negative, error) {
	run, err := samplers.Start(ctx, s, t, start, o)
	if err != nil {
		return nil, err
	}
	return follow(run, func(ctx context.Context, _ int) error {
		return run.Steps(ctx, steps, nil)
	}), nil
}

// follow has the chains of a run follow the model, with the steps that iterate makes.
func follow(run *samplers.Run, iterate func(ctx context.Context, it int) error) Negative {
	return func(ctx context.Context, it int, _ [][]int32) ([][]int32, error) {
		if it > 0 { // the model has changed
			if err := run.Retarget(ctx); err != nil {
				return nil, err
			}
		}
		err := iterate(ctx, it)
		return run.X, err
	}
}
