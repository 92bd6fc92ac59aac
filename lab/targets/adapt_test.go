package targets_test

import (
	"context"
	"maps"
	"testing"

	"infill/lab/targets"
	"infill/samplers"
)

// TestAdaptationEndsWithBurnin: what a sampler adapts differs after the burn-in
// from what it started with, and has the same bits ever after.
func TestAdaptationEndsWithBurnin(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	target := must(targets.NewIsing(8, 8, true, 0.1, []float64{0.2}, false))
	all := []samplers.Sampler{
		&samplers.DLMC{Euler: true}, &samplers.ACS{AlphaMax: 0.6, AlphaMin: 0.2},
		&samplers.ACS{FixedBeta: true},
	}
	adapting := map[string]bool{
		"dula": true, "dmala": true, "dlmc": true, "acs": true,
	}
	for name := range adapting {
		s, err := samplers.New(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	for _, s := range all {
		const burnin = 150
		run, err := samplers.Start(
			ctx, s, target, randomStarts(target.Domain(), 3), samplers.Options{Seed: 4, Burnin: burnin},
		)
		if err != nil {
			t.Fatal(err)
		}
		tuning := func(n int) (out []map[string]float64) {
			if err := run.Steps(ctx, n, nil); err != nil {
				t.Fatal(err)
			}
			for k := range run.X {
				out = append(out, run.Tuning(k))
			}
			return out
		}
		start, kept := tuning(0), tuning(burnin+1) // the first step after the burn-in settles averages
		for n := range 3 {
			for k, later := range tuning(50) {
				if !maps.Equal(kept[k], later) {
					t.Errorf(
						"%s %+v, chain %d, %d steps after the burn-in: %v, was %v", s.Info().Name, s, k, 50*(n+1), later,
						kept[k],
					)
				}
			}
		}
		for k := range kept {
			if len(kept[k]) == 0 || maps.Equal(start[k], kept[k]) {
				t.Errorf("%s %+v, chain %d: %v after the burn-in as before it", s.Info().Name, s, k, kept[k])
			}
		}
	}
}
