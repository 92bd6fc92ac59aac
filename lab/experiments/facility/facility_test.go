package facility

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"infill/lab/experiments/lab"
	"infill/lab/experiments/lab/labtest"
	"infill/lab/internal/diag"
	"infill/lab/targets"
	"infill/samplers"
)

// small is an instance whose states can be listed: 2³·3⁵.
func small() *Instance { return Draw(3, 5, 0) }

// The closed form of the mean cost is the mean over demands.
func TestExpectedIsTheMean(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 8 {
		in := Draw(4, 6, i)
		in.Lots = i % 4
		tg, err := newTarget(in, 1)
		if err != nil {
			t.Fatal(err)
		}
		x := tg.dom.Random(rng)
		const n = 20000
		d, sum, sq := make([]float64, 6), 0.0, 0.0
		for range n {
			in.demands(rng, d)
			c := in.Cost(x, d)
			sum, sq = sum+c, sq+c*c
		}
		mean := sum / n
		se := math.Sqrt((sq/n - mean*mean) / n)
		if want := in.Expected(x); math.Abs(mean-want) > 4*se {
			t.Errorf("mean cost %.2f ± %.2f, by the closed form %.2f", mean, se, want)
		}
	}
}

// Every difference is the difference of two costs.
func TestDifferences(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 2))
	in := Draw(4, 6, 2)
	tg, err := newTarget(in, 1)
	if err != nil {
		t.Fatal(err)
	}
	d, out := make([]float64, 6), make([]float64, tg.dom.GradLen())
	for i := range 50 {
		in.Lots = i % 3 // with lots some demands are 0
		x := tg.dom.Random(rng)
		in.demands(rng, d)
		clear(out)
		tg.differences(x, d, 2, out)
		for j, got := range out {
			y, sites := append([]int32(nil), x...), len(in.Open)
			if j < sites {
				y[j] = 1 - y[j]
			} else {
				y[sites+(j-sites)/sites] = int32((j - sites) % sites)
			}
			want := 2 * (in.Cost(y, d) - in.Cost(x, d))
			if math.Abs(got-want) > 1e-9 {
				t.Fatalf("entry %d is %v, want %v", j, got, want)
			}
		}
	}
}

// On a listed instance SGDLD draws from exp(−E f/τ), although it sees single demands only.
func TestDrawsFromTheTarget(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	tg, err := newTarget(small(), 400)
	if err != nil {
		t.Fatal(err)
	}
	exact, err := targets.Enumerate(ctx, tg)
	if err != nil {
		t.Fatal(err)
	}
	x := make([][]int32, 8)
	for k := range x {
		x[k] = tg.dom.Random(samplers.NewStream(1, "start", k))
	}
	run, err := samplers.Start(ctx, &samplers.SGDLD{Jump: .1}, tg, x, samplers.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var marginals diag.Marginals
	if err := run.Steps(ctx, 15000, marginals.Observe); err != nil {
		t.Fatal(err)
	}
	for i := range tg.dom.Len() {
		for v, want := range exact.Marginal(i) {
			if got := marginals.Of(i)[v]; math.Abs(got-want) > .04 {
				t.Errorf("P(%d = %d) is %.3f, want %.3f", i, v, got, want)
			}
		}
	}
}

// The annealed search comes near the cheapest of all states. (It may end in another plan, which is
// nearly as cheap and has more neighbours like it.)
func TestSearchNearsTheOptimum(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := settings{sites: 3, customers: 5, chains: 20, steps: 2000, tau: 200, minJump: .3, judges: 5000}
	for n := range 3 {
		in := Draw(3, 5, n)
		best := optimum(t, in)
		f, err := s.search(ctx, in, withCache, lab.Options{Seed: 1, Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		if f.Cost < best-1e-9 || f.Cost > 1.02*best {
			t.Errorf("instance %d: cost %.2f, the optimum is %.2f", n, f.Cost, best)
		}
		if last := f.Path[len(f.Path)-1]; last < best || last > 1.15*best {
			t.Errorf("instance %d: chains end at %.2f on average, the optimum is %.2f", n, last, best)
		}
	}
}

// HiGHS's costs are ours, its optimum is the cheapest of all plans where these can be listed, and
// nothing is below its bounds.
func TestHiGHS(t *testing.T) {
	t.Parallel()
	known, err := solutions()
	if err != nil {
		t.Fatal(err)
	}
	bounds := map[[4]int]float64{}
	listed := 0
	for _, h := range known {
		at := [4]int{h.Sites, h.Customers, h.Instance, h.Lots}
		in := Draw(h.Sites, h.Customers, h.Instance)
		in.Lots = h.Lots
		cost := in.Expected(h.Plan)
		if h.What == "exact" {
			bounds[at] = h.Bound
			if math.Abs(cost/h.Objective-1) > 1e-6 || h.Proved && h.Bound < h.Objective*(1-2e-4) {
				t.Errorf("%v: our cost %v, HiGHS's %v with bound %v", at, cost, h.Objective, h.Bound)
			}
			if h.Sites == 3 {
				listed++
				if best := optimum(t, in); math.Abs(best/h.Objective-1) > 1e-4 {
					t.Errorf("%v: the cheapest plan costs %v, HiGHS's %v", at, best, h.Objective)
				}
			}
		}
		if h.Lots > 0 { // no exact solution
			continue
		}
		if cost < bounds[at]*(1-1e-9) || bounds[at] == 0 {
			t.Errorf("%v, %s: cost %v is below the bound %v", at, h.What, cost, bounds[at])
		}
	}
	if listed != 3 {
		t.Errorf("%d instances with all plans listed, want 3", listed)
	}
}

// A table has the mean and the deviation of costs, and ratios over the instances that a solver solved.
func TestTable(t *testing.T) {
	t.Parallel()
	s := size{settings: settings{sites: 2, customers: 3, instances: 2, chains: 9},
		paper: map[string]reported{"SGDLD": {100, 5, 7}, "SLS": {150, 6, 8}}}
	c, times := values{}, values{}
	for n, v := range []float64{100, 300} {
		c.set("SGDLD", 2, n, v)
		c.set("SGDLD, mean of the chains", 2, n, 2*v)
		c.set("SLS, mean of the chains", 2, n, 2.5*v)
	}
	c.set("SLS", 2, 0, 110)
	c.set("SLS", 2, 1, 360)
	c.set("HiGHS (8)", 2, 1, 270)
	times.set("HiGHS (8)", 2, 1, 60)
	times.set("SLS", 2, 0, 1.5)
	times.set("SLS", 2, 1, 2)
	for _, row := range []string{
		"| SGDLD | 200 ± 141 | 0.00 ± 0.00 | – | 100 ± 5 | 0.00 | 7 |",
		"| SLS | 235 ± 177 | 15.00 ± 5.00 | 1.8 | 150 ± 6 | 50.00 | 8 |",
		"| SGDLD, mean of the chains | 400 ± 283 | 0.00 ± 0.00 | – | – | – | – |",
		"| SLS, mean of the chains | 500 ± 354 | 25.00 ± 0.00 | – | – | – | – |",
		"| HiGHS (8), 1 of 2 instances | 270 | −10.00 | 60.0 | – | – | – |",
	} {
		if text := s.table(c, times); !strings.Contains(text, row) {
			t.Errorf("no row %q in\n%s", row, text)
		}
	}
	s.chains = 1 // whose mean is the chain
	if text := s.table(c, times); strings.Contains(text, "mean of the chains") {
		t.Errorf("one chain has a mean:\n%s", text)
	}
}

// With a stopwatch that goes on by a millisecond at every reading, each chain takes four: one for
// itself, and one after each of the three measurements, which do not count. The choice takes one.
func TestSeconds(t *testing.T) {
	t.Parallel()
	s := settings{sites: 3, customers: 5, chains: 2, steps: 200, tau: 200, minJump: .3, judges: 2}
	for m := range methods {
		f, err := s.search(context.Background(), small(), m,
			lab.Options{Seed: 1, Threads: 2, Stopwatch: labtest.Stopwatch})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Path) != 3 || math.Abs(f.Seconds-.009) > 1e-12 {
			t.Errorf("%s: %v s with %d measurements, want .009 s with 3", methodNames[m], f.Seconds,
				len(f.Path))
		}
	}
}

// TestGoesOn: a run takes what a method gave on an instance from an earlier one, its time too.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	labtest.GoesOn(t, Experiment, labtest.Part{File: "quick-" + sizes(true)[0].part(localSearch, 0),
		Field: "Cost", Value: "4321", Shown: "| SLS | 4321 |"})
}

// The quick case is between the optimum and the start, and says the same twice.
func TestQuick(t *testing.T) {
	t.Parallel()
	text := labtest.Quick(t, Experiment, 1, 2).Text
	for _, row := range []string{"| SGDLD | ", "| SLS | ", "| HiGHS, exact mean | 7516 | "} {
		if !strings.Contains(text, row) {
			t.Errorf("the page has no row %q:\n%s", row, text)
		}
	}
	known, err := solutions()
	if err != nil {
		t.Fatal(err)
	}
	s := sizes(true)[0]
	in := Draw(s.sites, s.customers, 0)
	f, err := s.search(context.Background(), in, withCache, lab.Options{Seed: 1, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range known {
		if h.Sites == 15 && h.Instance == 0 && h.What == "exact" {
			if f.Cost < h.Bound || f.Cost > 1.1*h.Bound {
				t.Errorf("cost %v, the optimum is %v", f.Cost, h.Bound)
			}
		}
	}
}

// optimum lists all plans.
func optimum(t *testing.T, in *Instance) float64 {
	t.Helper()
	tg, err := newTarget(in, 1)
	if err != nil {
		t.Fatal(err)
	}
	e := targets.Exact{Domain: tg.dom}
	best, x := math.Inf(1), make([]int32, tg.dom.Len())
	for s := range int(tg.dom.Size()) {
		e.State(s, x)
		best = min(best, in.Expected(x))
	}
	return best
}
