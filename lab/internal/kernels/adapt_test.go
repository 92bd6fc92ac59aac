package kernels

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"infill/internal/testmode"
	"infill/lab/targets"
	"infill/samplers"
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
			ctx, &GWGX{Draws: draws}, target, randomStarts(target.Domain(), 4),
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

// TestAdaptationEndsWithBurnin: what a sampler adapts differs after the burn-in
// from what it started with, and has the same bits ever after.
func TestAdaptationEndsWithBurnin(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	target := must(targets.NewIsing(8, 8, true, 0.1, []float64{0.2}, false))
	all := []samplers.Sampler{
		&GWGX{}, &GWGX{Draws: 3}, &AB{}, &AB{StepSize: 0.3}, &AB{Beta: 0.6}, &RWM{}, &PAS{},
		must(New("dula", nil)), must(New("dmala", nil)), must(New("dlmc", nil)), must(New("acs", nil)),
		&samplers.DLMC{Euler: true},
		&samplers.ACS{AlphaMax: 0.6, AlphaMin: 0.2}, &samplers.ACS{FixedBeta: true},
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

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// randomStarts are n states of a domain.
func randomStarts(d *samplers.Domain, n int) [][]int32 {
	return d.Randoms(rand.New(rand.NewPCG(1, uint64(n))), n)
}
