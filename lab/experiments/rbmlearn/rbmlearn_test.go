package rbmlearn

import (
	"context"
	"math"
	"testing"

	"infill/internal/testmode"
	"infill/lab/experiments/boltzmann"
	"infill/lab/experiments/images"
	"infill/lab/experiments/lab/labtest"
	"infill/lab/papers"
)

// TestQuick holds the log-likelihoods of the quick case against exact ones, wants every method to
// learn, and DMALA and ACS to be between GWG and block Gibbs, as on three of the five sets of the paper.
func TestQuick(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	set, p := images.Digits(2), plans(true)
	blank, err := boltzmann.New(set, p.hidden, 1)
	if err != nil {
		t.Fatal(err)
	}
	exact := func(r *papers.RBM) float64 {
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
		r, l, err := p.learn(ctx, method, set, 1)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, l)
		got[method] = exact(r)
		if math.Abs(got[method]-l.Test) > 4*l.Error {
			t.Errorf("%s: log-likelihood %v ± %v, exact %v", method, l.Test, l.Error, got[method])
		}
	}
	t.Logf("from %.2f to %v", start, got)
	for _, method := range []string{"DMALA", "ACS"} {
		if !(got[method] > start+1 && got[method] > got["GWG-1"] &&
			got[method] < got["block Gibbs"]+0.3) {
			t.Errorf("from %v, %s does not lie between GWG and block Gibbs: %v", start, method, got)
		}
	}
	page := p.page(set, results, 1)
	if err := labtest.Complete(Experiment, page); err != nil {
		t.Error(err)
	}
	if testmode.All() && labtest.Quick(t, Experiment, 1, 2).Text != page.Text {
		t.Error("the experiment's page is not that of its results")
	}
}

// TestGoesOn: a run takes the parts that an earlier one kept, and makes the others as that did.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	labtest.GoesOn(t, Experiment, labtest.Part{File: "quick-rbmlearn-DMALA", Field: "Train",
		Value: "-1234.5", Shown: "| DMALA | −1234.50 |", Again: "quick-rbmlearn-DMALA"})
}
