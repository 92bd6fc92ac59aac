package rbmlearn

import (
	"context"
	"math"
	"testing"

	"infill/experiments/boltzmann"
	"infill/experiments/images"
	"infill/experiments/lab/labtest"
	"infill/internal/testmode"
	"infill/samplers"
	"infill/samplers/targets"
)

// TestLangevin: the proposal leaves a machine invariant at steps and exponents of algorithm 6, and
// untested steps accept everything.
func TestLangevin(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, err := targets.NewRBM(5, 2, 3, true)
	if err != nil {
		t.Fatal(err)
	}
	r.Randomise(samplers.NewStream(1, "machine", 0), 0.3, 0)
	truth, err := targets.Enumerate(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*langevin{{alpha: 2, beta: 0.9}, {alpha: 0.3, beta: 0.5}} {
		x := images.Random(samplers.NewStream(2, "starts", 0), 200, 5, 2)
		run, err := samplers.Start(ctx, l, r, x, samplers.Options{Seed: 3, Burnin: 100})
		if err != nil {
			t.Fatal(err)
		}
		count := make([]float64, len(truth.P))
		err = run.Sample(ctx, 400, func(run *samplers.Run) error {
			for _, v := range run.X {
				count[truth.Index(v)]++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if tv := truth.TV(count); tv > 0.02 {
			t.Errorf("α = %v, β = %v: total variation %v", l.alpha, l.beta, tv)
		}
	}
	l := &langevin{alpha: 2, beta: 0.9, untested: true}
	run, err := samplers.Start(ctx, l, r, images.Random(samplers.NewStream(2, "starts", 0), 50, 5, 2),
		samplers.Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if err := run.Step(ctx); err != nil {
			t.Fatal(err)
		}
		for k, m := range run.Last {
			if m.Moved && !m.Accepted {
				t.Errorf("chain %d rejects an untested step", k)
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
		s.l.alpha, s.l.beta = alpha, beta
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
	start, got := exact(blank), map[string]float64{}
	var results []*learned
	for _, method := range methods {
		l, err := p.learn(ctx, method, set, 1)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, l)
		got[method] = exact(l.r)
		if math.Abs(got[method]-l.test) > 4*l.z.SE {
			t.Errorf("%s: log-likelihood %v ± %v, exact %v", method, l.test, l.z.SE, got[method])
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
