package rbmlearn

import (
	"context"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"infill/experiments/boltzmann"
	"infill/experiments/images"
	"infill/experiments/lab"
	"infill/experiments/lab/labtest"
	"infill/internal/testmode"
	"infill/samplers/targets"
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
	page := p.page(set, results)
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
	o := lab.Options{Seed: 1, Quick: true, Threads: 2, Keep: t.TempDir()}
	page := func() *lab.Page {
		p, err := run(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := page()
	part := filepath.Join(o.Keep, "quick-rbmlearn-DMALA-seed1.json")
	b, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	if again := page(); again.Text != first.Text || !maps.Equal(again.Charts, first.Charts) {
		t.Error("the second page differs")
	}
	train := regexp.MustCompile(`"Train":[^,]*`)
	if err := os.WriteFile(part, train.ReplaceAll(b, []byte(`"Train":-1234.5`)), 0o600); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page().Text, "| DMALA | −1234.50 |") {
		t.Error("the part that was kept is not on the page")
	}
	if err := os.Remove(part); err != nil {
		t.Fatal(err)
	}
	if page().Text != first.Text {
		t.Error("a part that was made again differs")
	}
}
