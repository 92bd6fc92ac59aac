package infill

import (
	"context"
	"errors"
	"math"
	"testing"

	"infill/samplers"
)

// Tune says what Fill's chains adapted. Options.Tuned takes it in place of a burn-in. Every step
// then counts, and no value changes.
func TestTune(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e := New(tiny(t))
	tm, err := Parse(e.Tokenizer(), "the [MASK] saw the [MASK*1-2] .")
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Steps: 40, Chains: 6, Seed: 2, Marginals: true}
	found, err := e.Tune(ctx, tm, opt)
	if err != nil || len(found) != 2 || found[0].Coordinates != 2 || found[1].Coordinates != 3 ||
		found[0].Chains != 3 || found[0].Stats.Steps != 3*20 {
		t.Fatalf("%v: %+v", err, found)
	}
	r, err := e.Fill(ctx, tm, opt)
	if err != nil {
		t.Fatal(err)
	}
	// The mean over chains is not below the geometric one, and not far from it.
	geometric := math.Sqrt(found[0].Values["rate"] * found[1].Values["rate"])
	if mean := r.Tuned["rate"]; mean < geometric*(1-1e-9) || mean > 2*geometric {
		t.Errorf("%v, and a geometric mean of %v", mean, geometric)
	}
	asked := map[int]bool{}
	opt.Tuned = func(n int) samplers.Sampler {
		asked[n] = true
		return &samplers.Rows{Rate: float64(n) / 10}
	}
	if r, err = e.Fill(ctx, tm, opt); err != nil {
		t.Fatal(err)
	}
	if len(asked) != 2 || !asked[2] || !asked[3] || math.Abs(r.Tuned["rate"]-.25) > 1e-12 {
		t.Errorf("asked for %v, rate %v", asked, r.Tuned)
	}
	if n := float64(r.Stats.Moved) / (6 * 40); r.Stats.Steps != 6*40 || math.Abs(r.MoveShare-n) > 1e-12 {
		t.Errorf("%d steps, moves %v of %v", r.Stats.Steps, r.MoveShare, n)
	}
	// Probabilities leave out the first fifth, which may remember the start.
	if r.Marginals.Draws != 6*32 {
		t.Errorf("%d draws", r.Marginals.Draws)
	}
	if _, err := e.Tune(ctx, tm, opt); !errors.Is(err, ErrOption) {
		t.Error(err)
	}
	// One state, or nothing to adapt.
	if found, err := e.Tune(ctx, tm, Options{Sampler: &samplers.GibbsMH{}, Steps: 4}); err != nil || found != nil {
		t.Errorf("%v: %+v", err, found)
	}
}
