package verify

import (
	"context"
	"math"
	"slices"
	"testing"

	"infill/samplers"
)

// TestDLPRuns is section 10 in small: the errors of the exact samplers are those that their
// effective sample sizes promise, and the errors of DULA and DSVGD are larger in the long run.
func TestDLPRuns(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m, mean, err := dlpIsing(.1)
	if err != nil {
		t.Fatal(err)
	}
	variance := 1 - mean[0]*mean[0]
	all := dlpSamplers(must(extended(ctx, m)))
	for _, c := range all[:len(all)-1] {
		steps := 4000
		if !c.exact {
			steps = 20000 // until the bias is what remains
		}
		r := must(runDLP(ctx, c.s, m, mean, 8, []int{100, steps}, true, 5))
		ratio := over(r.mse[1]).mean / (variance / (float64(steps) * over(r.ess).mean))
		if c.exact && (ratio < .5 || ratio > 2) {
			t.Errorf("%s: the squared error is %.2f times that of its ESS, want near 1", c.name, ratio)
		}
		if !c.exact && ratio < 3 {
			t.Errorf("%s: the squared error is %.2f times that of its ESS, want a bias", c.name, ratio)
		}
		if c.name == "DMALA" && (r.calls != 4 || r.evals > 1) {
			t.Errorf("%s: %g calls and %g evaluations a step, want 4 and at most 1", c.name, r.calls, r.evals)
		}
		if over(r.mse[0]).mean < over(r.mse[1]).mean {
			t.Errorf("%s: errors %v grow", c.name, r.mse)
		}
	}
	last := all[len(all)-1]
	r := must(runParticles(ctx, last.s, m, mean, 1, []int{1, 300}, 5))
	if fair := variance / particles; r.mse[1][0] < 2*fair || r.mse[1][0] > r.mse[0][0] {
		t.Errorf("%s: squared errors %v, want a fall to some times the %.4f of independent draws",
			last.name, r.mse, fair)
	}
}

// TestDLPConnectivity is figure 7 in small, at no coupling and near the critical one.
func TestDLPConnectivity(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, a := range []float64{0, .25} {
		m, mean, err := dlpIsing(a)
		if err != nil {
			t.Fatal(err)
		}
		if want := math.Tanh(dlpField); a == 0 && math.Abs(mean[0]-want) > 1e-12 {
			t.Errorf("a = 0: the mean is %g, want %g", mean[0], want)
		}
		const steps = 6000
		r := must(runDLP(ctx, &samplers.DMALA{StepSize: .4}, m, mean, 8, []int{steps}, true, 2))
		ratio := over(r.mse[0]).mean * steps * over(r.ess).mean / (1 - mean[0]*mean[0])
		if ratio < .4 || ratio > 2.5 { // the slowest mode moves all sites together
			t.Errorf("a = %g: the squared error is %.2f times that of its ESS, want near 1", a, ratio)
		}
	}
}

// TestGWG6 compares GWG-X with what its public code gave on this model in 40,000 proposals:
// acceptance .651 and .499, with 3.63 and 5.27 sites changed.
func TestGWG6(t *testing.T) {
	t.Parallel()
	m, mean, err := dlpIsing(.1)
	if err != nil {
		t.Fatal(err)
	}
	for draws, want := range map[int][2]float64{4: {.651, 3.63}, 6: {.499, 5.27}} {
		r := must(runDLP(context.Background(), &samplers.GWG{Draws: draws}, m, mean, 16, []int{1000},
			false, 1))
		acc, flips := over(r.acc), over(r.flips)
		if math.Abs(acc.mean-want[0]) > .03 || math.Abs(flips.mean-want[1]) > .1 {
			t.Errorf("GWG-%d: acceptance %v, sites %v, want %v", draws, acc, flips, want)
		}
	}
}

func TestDLPMarks(t *testing.T) {
	t.Parallel()
	if got := dlpMarks(200); !slices.Equal(got, []int{10, 20, 50, 100, 200}) {
		t.Errorf("marks %v", got)
	}
}
