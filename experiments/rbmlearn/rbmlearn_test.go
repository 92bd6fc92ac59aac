package rbmlearn

import (
	"context"
	"maps"
	"math"
	"testing"

	"infill/experiments/boltzmann"
	"infill/experiments/images"
	"infill/experiments/lab/labtest"
	"infill/internal/testmode"
	"infill/samplers"
	"infill/samplers/targets"
)

// TestTuning: on a machine that stays as it is, algorithm 4 ends at step sizes whose acceptance
// is nearer to the wanted one than where it began. More is not to be had: α_min only goes up and
// α_max only down, so that noise takes both too far.
func TestTuning(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, err := targets.NewRBM(100, 2, 60, true)
	if err != nil {
		t.Fatal(err)
	}
	r.Randomise(samplers.NewStream(1, "machine", 0), 0.3, 0)
	start := images.Random(samplers.NewStream(2, "starts", 0), 100, r.D, 2)
	for k, v := range start {
		boltzmann.Sweep(r, samplers.NewStream(3, "sweeps", k), v, 50)
	}
	c := settings(5, 100)
	c.betaMax = 0.5 // at .9 the acceptance hardly depends on α
	_, s, err := c.persistent(ctx, r, start, samplers.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for it := range 3 { // EstAlphaMax, and EstAlphaMin twice
		if err := s.iterate(ctx, it); err != nil {
			t.Fatal(err)
		}
	}
	off := func(alpha, beta float64) float64 {
		if err := s.run.SetStride(samplers.Stride{StepSize: alpha, Beta: beta}); err != nil {
			t.Fatal(err)
		}
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
	r, err := targets.NewRBM(30, 2, 20, true)
	if err != nil {
		t.Fatal(err)
	}
	r.Randomise(samplers.NewStream(1, "machine", 0), 1, 0)
	start := images.Random(samplers.NewStream(2, "starts", 0), 50, r.D, 2)
	c := settings(5, 100)
	_, s, err := c.persistent(ctx, r, start, samplers.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	s.max, s.min = 3, 0.2
	for it := 2; it < 20; it++ {
		s.run.ResetStats()
		if err := s.iterate(ctx, it); err != nil {
			t.Fatal(err)
		}
		steps, stride := 5, map[string]float64{"step-size": 0.2, "beta": 0.5}
		if it%8 == 0 {
			steps, stride = 2, map[string]float64{"step-size": 3, "beta": 0.9}
		}
		if got := s.run.Stats[0].Steps; got != steps || !maps.Equal(s.run.Tuning(0), stride) {
			t.Errorf("iteration %d: %d steps at %v, want %d at %v", it, got, s.run.Tuning(0), steps, stride)
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

// TestQuick holds the log-likelihoods of the quick case against exact ones, wants every method to
// learn, and DMALA and ACS to be between GWG and block Gibbs, as in the paper.
func TestQuick(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	set, p := images.Digits(), plans(true)
	blank, err := boltzmann.New(set, p.hidden, 1)
	if err != nil {
		t.Fatal(err)
	}
	exact := func(r *targets.RBM) float64 {
		z, err := r.LogZ()
		if err != nil {
			t.Fatal(err)
		}
		l, err := boltzmann.LogLikelihood(ctx, r, set.Test, z)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	bare, err := boltzmann.New(set, 3, 1) // without weights its pixels are independent
	if err != nil {
		t.Fatal(err)
	}
	clear(bare.W)
	if l := exact(bare); math.Abs(l-independent(set, set.Test)) > 1e-9 {
		t.Errorf("log-likelihood of independent pixels %v, exact %v", independent(set, set.Test), l)
	}
	start, got := exact(blank), map[string]float64{}
	var results []*learned
	for _, method := range methods {
		l, err := p.learn(ctx, method, set, 1)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, l)
		got[method] = exact(l.r)
		if math.Abs(got[method]-l.test) > 4*l.z.Error {
			t.Errorf("%s: log-likelihood %v ± %v, exact %v", method, l.test, l.z.Error, got[method])
		}
	}
	t.Logf("from %.2f to %v", start, got)
	for _, method := range []string{"DMALA", "ACS"} {
		if !(got[method] > start+1 && got[method] > got["GWG-1"] &&
			got[method] < got["block Gibbs"]+0.3) {
			t.Errorf("from %v, %s does not lie between GWG and block Gibbs: %v", start, method, got)
		}
	}
	page := p.page(set, results)
	if err := labtest.Complete(Experiment, page); err != nil {
		t.Error(err)
	}
	if testmode.All() && labtest.Quick(t, Experiment, 1, 2).Text != page.Text {
		t.Error("the experiment's page is not that of its results")
	}
}
