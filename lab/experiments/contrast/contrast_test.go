package contrast

import (
	"context"
	"math"
	"testing"

	"infill/lab/experiments/images"
	"infill/lab/papers"
	"infill/samplers"
)

// TestPersistent: the chains follow the machine from the first step after it has changed.
func TestPersistent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, err := papers.NewRBM(20, 2, 2, true)
	if err != nil {
		t.Fatal(err)
	}
	start := make([][]int32, 10)
	for k := range start {
		start[k] = make([]int32, r.D)
	}
	neg, err := Persistent(ctx, r, &samplers.DMALA{StepSize: 0.1}, start, 1, samplers.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for it, bias := range []float64{-60, 60} { // all pixels off, and then all on
		for i := range r.B {
			r.B[i] = bias
		}
		x, err := neg(ctx, it, nil)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range x {
			for i, s := range v {
				if want := int32(it); s != want {
					t.Fatalf("iteration %d: pixel %d of chain %d is %d", it, i, k, s)
				}
			}
		}
	}
}

// TestTuning: on a machine that stays as it is, algorithm 4 ends at step sizes whose acceptance
// is nearer to the wanted one than where it began. More is not to be had: α_min only goes up and
// α_max only down, so that noise takes both too far.
func TestTuning(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, err := papers.NewRBM(100, 2, 60, true)
	if err != nil {
		t.Fatal(err)
	}
	r.Randomise(samplers.NewStream(1, "machine", 0), 0.3, 0)
	start := images.Random(samplers.NewStream(2, "starts", 0), 100, r.D, 2)
	settled, err := samplers.Start(ctx, papers.RBMGibbs{}, r, start,
		samplers.Options{Seed: 3, ID: "sweeps"})
	if err != nil {
		t.Fatal(err)
	}
	if err := settled.Steps(ctx, 50, nil); err != nil {
		t.Fatal(err)
	}
	c := settings(5, Tuning{Period: 100, Budget: 50, Rise: true})
	c.betaMax = 0.5 // at .9 the acceptance hardly depends on α
	s, err := c.begin(ctx, r, settled.X, samplers.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for it := range 3 { // EstAlphaMax, and EstAlphaMin twice
		if err := s.iterate(ctx, it); err != nil {
			t.Fatal(err)
		}
	}
	off := func(alpha, beta float64) float64 {
		s.stride = stride{alpha, beta, false}
		mean := 0.0
		err := s.run.Steps(ctx, 30, func(run *samplers.Run) error {
			for _, m := range run.Last {
				mean += m.Prob / float64(30*run.Len())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return math.Abs(mean - c.rho)
	}
	for _, at := range []struct{ from, to, beta float64 }{{c.floor, s.min, c.betaMin},
		{c.ceil, s.max, c.betaMax}} {
		before, after := off(at.from, at.beta), off(at.to, at.beta)
		if at.to == at.from || after > before-0.02 {
			t.Errorf("β = %v: from α = %v, off by %v, to %v, off by %v", at.beta, at.from, before, at.to,
				after)
		}
	}
}

// TestCycle: the first iteration of a cycle explores, with half of the steps, α_max, β_max and no
// test, and the others make all steps at α_min and β_min with it.
func TestCycle(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, err := papers.NewRBM(30, 2, 20, true)
	if err != nil {
		t.Fatal(err)
	}
	r.Randomise(samplers.NewStream(1, "machine", 0), 1, 0)
	start := images.Random(samplers.NewStream(2, "starts", 0), 50, r.D, 2)
	c := settings(5, Tuning{Period: 100, Budget: 50, Rise: true})
	s, err := c.begin(ctx, r, start, samplers.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	s.max, s.min = 3, 0.2
	for it := 2; it < 20; it++ {
		s.run.ResetStats()
		if err := s.iterate(ctx, it); err != nil {
			t.Fatal(err)
		}
		steps, at := 5, stride{0.2, 0.5, false}
		if it%8 == 0 {
			steps, at = 2, stride{3, 0.9, true}
		}
		if got := s.run.Stats[0].Steps; got != steps || s.stride != at {
			t.Errorf("iteration %d: %d steps at %v, want %d at %v", it, got, s.stride, steps, at)
		}
		rejected := 0
		for _, st := range s.run.Stats {
			rejected += st.Moved - st.Accepted
		}
		if (rejected == 0) != (it%8 == 0) {
			t.Errorf("iteration %d: %d steps are rejected", it, rejected)
		}
	}
}

// TestFloor: the search for α_min begins at α_floor, or one standard deviation below the mean of all
// that were found, and never lower.
func TestFloor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rise bool
		mins []float64
		want float64
	}{{false, []float64{1, 3}, 0.05}, {true, nil, 0.05}, {true, []float64{1, 3}, 1},
		{true, []float64{0.01, 0.01}, 0.05}} {
		s := scheduler{cyclic: settings(5, Tuning{Period: 100, Budget: 50, Rise: c.rise}), mins: c.mins}
		if got := s.lowest(); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("after %v, rising %v: from %v, want %v", c.mins, c.rise, got, c.want)
		}
	}
}
