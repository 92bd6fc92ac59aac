package samplers_test

import (
	"context"
	"testing"

	"infill/internal/testmode"
	"infill/samplers"
	"infill/samplers/targets"
)

// TestABRaisesTheJumpDistance: tuned, chains go farther per step than from where
// the search began (α half of DMALA's start, β = ½), and than with DMALA's tuned
// step size. Single chains vary by a fifth, so the test is of the mean of 8.
func TestABRaisesTheJumpDistance(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	problems := []samplers.Target{
		must(targets.NewPotts(10, 10, 4, false, 0.8, []float64{0, 0.3, -0.2, 0.5})),
	}
	if testmode.All() {
		problems = append(problems, must(targets.NewIsing(20, 20, true, 0.1, []float64{0.2}, false)))
	}
	for _, target := range problems {
		const burnin = 1000
		jump := func(s samplers.Sampler) (mean float64) {
			const chains = 8
			run, err := samplers.Start(
				ctx, s, target, randomStarts(target.Domain(), chains),
				samplers.Options{Seed: 3, Burnin: burnin},
			)
			if err != nil {
				t.Fatal(err)
			}
			if err := run.Steps(ctx, burnin, nil); err != nil {
				t.Fatal(err)
			}
			run.ResetStats()
			if err := run.Steps(ctx, 500, nil); err != nil {
				t.Fatal(err)
			}
			for _, s := range run.Stats {
				mean += s.JumpDistance() / chains
			}
			return mean
		}
		run, err := samplers.Start(
			ctx, &samplers.AB{}, target, randomStarts(target.Domain(), 1), samplers.Options{Burnin: burnin},
		)
		if err != nil {
			t.Fatal(err)
		}
		first := run.Tuning(0)
		tuned, start, dmala := jump(
			&samplers.AB{},
		), jump(
			&samplers.AB{StepSize: first["step-size"], Beta: first["beta"]},
		), jump(
			&samplers.DMALA{},
		)
		if tuned < 1.2*start || tuned < 1.2*dmala {
			t.Errorf(
				"tuned %.3g accepted changes a step, %.3g at the search's start %v, %.3g by DMALA", tuned,
				start, first, dmala,
			)
		}
	}
}
