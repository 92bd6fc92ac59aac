package samplers_test

import (
	"context"
	"math"
	"testing"

	"infill/internal/testmode"
	"infill/samplers"
	"infill/samplers/targets"
)

// TestGWGAdaptsDraws: X goes from where Draws has it to a mean acceptance probability of 0.574,
// from below and from above, within the number of coordinates.
func TestGWGAdaptsDraws(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	target := must(targets.NewIsing(20, 20, true, 0.1, []float64{0.2}, false))
	starts := []int{0, 60, 4000}
	if testmode.All() {
		starts = append(starts, 1, 5)
	}
	for _, draws := range starts {
		const burnin = 600
		run, err := samplers.Start(
			ctx, &samplers.GWG{Draws: draws, Adapt: true}, target, randomStarts(target.Domain(), 4),
			samplers.Options{Seed: 2, Burnin: burnin},
		)
		if err != nil {
			t.Fatal(err)
		}
		for k := range run.X {
			if got, want := run.Tuning(k)["draws"], float64(min(max(1, draws), 400)); math.Abs(
				got-want,
			) > 1e-9 {
				t.Errorf("draws %d, chain %d: starts at %g, want %g", draws, k, got, want)
			}
		}
		if err := run.Steps(ctx, burnin, nil); err != nil {
			t.Fatal(err)
		}
		run.ResetStats()
		if err := run.Steps(ctx, 600, nil); err != nil {
			t.Fatal(err)
		}
		for k, s := range run.Stats {
			x := run.Tuning(k)["draws"]
			if math.Abs(s.MeanProb()-0.574) > 0.1 {
				t.Errorf(
					"draws %d, chain %d: acceptance %.3f at X = %.1f, want %g", draws, k, s.MeanProb(), x,
					0.574,
				)
			}
			// One proposal in 16 is a single draw; hardly any draw repeats a
			// coordinate.
			if want := (15*x + 1) / 16; math.Abs(s.ProposedDistance()/want-1) > 0.15 {
				t.Errorf(
					"draws %d, chain %d: %.2f changes proposed, want about %.2f", draws, k, s.ProposedDistance(),
					want,
				)
			}
		}
	}
}
