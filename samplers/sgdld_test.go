package samplers

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// ratios is a target on bits with given ratios of neighbours to the state, the
// same at every state, and with faults at chosen calls.
type ratios struct {
	flat
	r     []float64
	fault map[int]func(num, den []float64)
	calls int
}

func (t *ratios) EstimateRatios(
	_ context.Context, x [][]int32, _ int, _ []*rand.Rand, num, den [][]float64,
) error {
	for k := range x {
		for i, r := range t.r {
			num[k][i], den[k][i] = math.Log(r/2), math.Log(0.5)
		}
		if f := t.fault[t.calls]; f != nil {
			f(num[k], den[k])
		}
	}
	t.calls++
	return nil
}

func (t *ratios) RatioKind() (ofMeans, cheap bool) { return true, false }

// noisyTable is a table with faults at chosen calls of StochasticGrad.
type noisyTable struct {
	*tableTarget
	fault map[int]float64
	calls int
}

func (t *noisyTable) StochasticGrad(
	ctx context.Context, x [][]int32, batch int, rng []*rand.Rand, u []float64, g [][]float64,
) error {
	err := t.tableTarget.StochasticGrad(ctx, x, batch, rng, u, g)
	if e, bad := t.fault[t.calls]; bad {
		g[0][len(g[0])-1] = e
	}
	t.calls++
	return err
}

// TestSGDLDNamesItsAbilities: a target with any one of the abilities that the error names starts,
// and each of them gives the rates for which the error names it.
func TestSGDLDNamesItsAbilities(t *testing.T) {
	t.Parallel()
	start := func(r Rates, target Target) error {
		_, err := Start(context.Background(), &SGDLD{Rates: r}, target, [][]int32{{0, 1}}, Options{})
		return err
	}
	table := newTable(rand.New(rand.NewPCG(1, 9)), Bits(2), 1, 0)
	able := map[string]Target{
		"StochasticGrad": struct{ StochasticGradienter }{table},
		"EstimateRatios": struct{ RatioEstimator }{
			&noisyField{flat: flat{Bits(2)}, field: []float64{1, 2}, temp: 1}},
		"EstimateRatios of means": struct{ RatioEstimator }{
			&ratios{flat: flat{Bits(2)}, r: []float64{1, 2}}},
	}
	for _, rates := range []Rates{autoRates, ratioRates, TaylorRates} {
		lacks := start(rates, flat{Bits(2)})
		if !errors.Is(lacks, ErrUnsupported) {
			t.Fatalf("rates %s without abilities: %v", rates, lacks)
		}
		for name, target := range able {
			err := start(rates, target)
			if named := strings.Contains(lacks.Error(), strings.Fields(name)[0]); named != (err == nil) {
				t.Errorf("rates %s with %s alone: %v, but without any: %v", rates, name, err, lacks)
			}
		}
	}
	if n := (&SGDLD{}).Info().Needs; !slices.Equal(n, []Need{needEstimates}) {
		t.Errorf("sgdld needs %v", n)
	}
}

// TestSGDLDLeavesOutSickEstimates: an estimate that is no number is counted
// once, and the chain goes on as if the mini-batch had not been drawn.
func TestSGDLDLeavesOutSickEstimates(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 9))
	for _, d := range []*Domain{Categories(3, 3), Bits(4), Integers(3, 3, 0)} {
		for _, noCache := range []bool{false, true} {
			tab := newTable(rng, d, 0.5, 0)
			faults := map[int]float64{20: math.NaN(), 60: math.Inf(1), 61: math.Inf(-1), 100: math.NaN()}
			target := &noisyTable{tableTarget: tab, fault: faults}
			run, err := Start(
				context.Background(), &SGDLD{NoCache: noCache}, target, [][]int32{make([]int32, d.Len())},
				Options{Seed: 1},
			)
			if err != nil {
				t.Fatal(err)
			}
			err = run.Steps(context.Background(), 1000, func(r *Run) error {
				w := math.Exp(r.LogWeight[0])
				_, bad := faults[r.Done()]
				if math.IsNaN(w) || math.IsInf(w, 0) || w < 0 || w == 0 && !bad {
					t.Errorf("after step %d the weight is %g", r.Done(), w)
				}
				if bad && r.Last[0].Accepted && r.Last[0].Moved {
					t.Errorf("step %d ends at a state without an estimate", r.Done())
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if st := run.Stats[0]; st.NonFinite != len(faults) || st.Moved < 100 || st.Steps != 1000 ||
				st.Hamming > st.Moved {
				t.Errorf("no cache %v: %+v after %d sick estimates", noCache, st, len(faults))
			}
		}
	}
}

// TestSGDLDSickCacheKeepsItsMean: with h so small that the chain stays, a sick
// ratio changes nothing of the weight, which the cached mean gives.
func TestSGDLDSickCacheKeepsItsMean(t *testing.T) {
	t.Parallel()
	for what, fault := range map[string]func(num, den []float64){
		"NaN":       func(num, _ []float64) { num[1] = math.NaN() },
		"infinite":  func(num, _ []float64) { num[0] = math.Inf(1) },
		"NaN below": func(_, den []float64) { den[0] = math.NaN() },
	} {
		target := &ratios{
			flat: flat{Bits(2)}, r: []float64{3, 1. / 3},
			fault: map[int]func(num, den []float64){3: fault},
		}
		run, err := Start(
			context.Background(), &SGDLD{Jump: 1e-9, Balance: Ratio}, target, [][]int32{{0, 0}}, Options{},
		)
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Steps(context.Background(), 6, func(r *Run) error {
			// g(3) + g(1/3) = 3/4 + 1/4.
			if w := math.Exp(r.LogWeight[0]); math.Abs(w-1e-9) > 1e-20 {
				t.Errorf("%s: weight %g after step %d, want h", what, w, r.Done())
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSGDLDWithoutFirstEstimate: a chain whose start has no estimate yet stays,
// with weight 0, until it has one.
func TestSGDLDWithoutFirstEstimate(t *testing.T) {
	t.Parallel()
	sick := func(num, _ []float64) { num[0] = math.NaN() }
	target := &ratios{
		flat: flat{Bits(2)}, r: []float64{1, 1},
		fault: map[int]func(num, den []float64){0: sick, 1: sick},
	}
	run, err := Start(
		context.Background(), &SGDLD{Jump: 1, Balance: Ratio}, target, [][]int32{{0, 0}}, Options{},
	)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []struct {
		weight float64
		moved  int
	}{{0, 0}, {0, 0}, {1, 0}, {1, 1}} {
		if n > 0 {
			if err := run.Step(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		weight := math.Exp(run.LogWeight[0])
		if math.Abs(weight-want.weight) > 1e-15 || run.Stats[0].Hamming != want.moved {
			t.Errorf(
				"after %d steps: weight %g and %d moves, want %+v", n, weight, run.Stats[0].Hamming,
				want,
			)
		}
	}
	if run.Stats[0].NonFinite != 2 {
		t.Errorf("%d sick estimates counted, want 2", run.Stats[0].NonFinite)
	}
}

// TestSGDLDSchedule: h_t = max(3/√(10+t), MinJump), of which MinJump's default
// of 0.1 is reached at t = 890, or the constant Jump; each jumps with that
// probability.
func TestSGDLDSchedule(t *testing.T) {
	t.Parallel()
	target := &ratios{flat: flat{Bits(2)}, r: []float64{3, 1. / 3}}
	kernel := func(s Sampler) *sgdldKernel {
		run, err := Start(context.Background(), s, target, [][]int32{{0, 0}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return run.kernel.(*sgdldKernel)
	}
	byName, err := New("sgdld", map[string]string{"min-jump": "0.1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s    Sampler
		t    int
		want float64
	}{
		{&SGDLD{}, 0, 0.9486832980505138}, // 3/√10
		{&SGDLD{}, 6, 0.75},               // 3/√16
		{&SGDLD{}, 90, 0.3},
		{&SGDLD{}, 889, 3 / 29.983328701129901},
		{&SGDLD{}, 890, 0.1},
		{&SGDLD{}, 2490, 0.1}, // 3/√2500 is 0.06
		{&SGDLD{}, 1 << 40, 0.1},
		{byName, 889, 3 / 29.983328701129901},
		{byName, 2490, 0.1},
		{&SGDLD{MinJump: 0.05}, 2490, 0.06},
		{&SGDLD{MinJump: 0.05}, 4890, 0.05},
		{&SGDLD{MinJump: 0.5}, 6, 0.75},
		{&SGDLD{MinJump: 0.5}, 90, 0.5},
		// The schedules of facility location and approximate computing.
		{&SGDLD{JumpScale: math.Sqrt(1000), JumpDelay: 100, MinJump: 0.3}, 0, 3.1622776601683795},
		{&SGDLD{JumpScale: math.Sqrt(1000), JumpDelay: 100, MinJump: 0.3}, 9900, 0.31622776601683794},
		{&SGDLD{JumpScale: math.Sqrt(1000), JumpDelay: 100, MinJump: 0.3}, 20000, 0.3},
		{&SGDLD{JumpScale: math.Sqrt(3)}, 0, 0.5477225575051661},
		{&SGDLD{JumpScale: math.Sqrt(3)}, 290, 0.1},
		{&SGDLD{Jump: 0.25}, 0, 0.25},
		{&SGDLD{Jump: 0.25}, 2490, 0.25},
		{&SGDLD{Jump: 0.05}, 2490, 0.05}, // the bound is the schedule's only
	} {
		if got := kernel(c.s).h(c.t); !(math.Abs(got-c.want) < 1e-15) {
			t.Errorf("%+v: h at step %d is %.17g, want %.17g", c.s, c.t, got, c.want)
		}
	}
}

// TestSGDLDWeightIsPolyaks: at every step the weight is ε_t = h_t/Z(θ), and
// chains jump with probability h_t to each neighbour in proportion to its rate.
func TestSGDLDWeightIsPolyaks(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, c := range []struct {
		s     *SGDLD
		z     float64
		rates [2]float64
	}{
		// At every state the ratios are 4 and 1/9.
		{&SGDLD{Balance: Ratio}, 0.9, [2]float64{0.8, 0.1}},
		{&SGDLD{}, 2 + 1./3, [2]float64{2, 1. / 3}},
		{&SGDLD{Balance: Max}, 5, [2]float64{4, 1}},
		{&SGDLD{NoCache: true, Balance: Min}, 1 + 1./9, [2]float64{1, 1. / 9}},
	} {
		target := &ratios{flat: flat{Bits(2)}, r: []float64{4, 1. / 9}}
		const chains = 4000
		run, err := Start(ctx, c.s, target, matrix[int32](chains, 2), Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		last := matrix[int32](chains, 2)
		for step := range 12 {
			h := 3 / math.Sqrt(10+float64(step))
			for k, log := range run.LogWeight {
				w := math.Exp(log)
				if !(math.Abs(w/(h/c.z)-1) < 1e-12) {
					t.Fatalf("%+v: weight %g of chain %d after %d steps, want %g", *c.s, w, k, step, h/c.z)
				}
			}
			if err := run.Step(ctx); err != nil {
				t.Fatal(err)
			}
			count, want := make([]float64, 3), []float64{h * c.rates[0] / c.z, h * c.rates[1] / c.z, 0}
			want[2] = 1 - want[0] - want[1]
			for k, x := range run.X {
				switch {
				case x[0] != last[k][0]:
					count[0]++
				case x[1] != last[k][1]:
					count[1]++
				default:
					count[2]++
				}
				copy(last[k], x)
			}
			checkFrequencies(t, "jumps of sgdld", count, want, chains)
		}
	}
}

// TestSGDLDFarCache: the cache adds up estimates of ψ that are beyond exp, and of which one
// is nothing beside another.
func TestSGDLDFarCache(t *testing.T) {
	t.Parallel()
	scale := []float64{-1000, -3000, -1000, 2000}
	third := math.Log(3)
	target := &ratios{flat: flat{Bits(2)}, r: []float64{1, 1}, fault: map[int]func(num, den []float64){}}
	for n, s := range scale {
		target.fault[n] = func(num, den []float64) {
			// Ratios of 3 and ⅓, of 100 and 1 in the small one, of 1 in the last.
			up := []float64{third, -third}
			switch n {
			case 1:
				up = []float64{math.Log(100), 0}
			case 3:
				up = []float64{0, 0}
			}
			for i := range num {
				num[i], den[i] = s+up[i], s
			}
		}
	}
	run, err := Start(context.Background(), &SGDLD{Jump: 1e-9}, target, [][]int32{{0, 0}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = run.Steps(context.Background(), 3, func(r *Run) error {
		want := third // the first and third estimates, the second being nothing beside them
		if r.Done() == 3 {
			want = 0 // the last one, beside which all others are nothing
		}
		delta := r.kernel.(*sgdldKernel).delta[0]
		z := math.Log(1e-9) - math.Log(math.Exp(want/2)+math.Exp(-want/2))
		if !(math.Abs(delta[0]-want) < 1e-12 && math.Abs(delta[1]+want) < 1e-12 &&
			math.Abs(r.LogWeight[0]-z) < 1e-12) || r.Stats[0].NonFinite > 0 {
			t.Errorf("after %d steps the log-ratios are %v, want ±%g; log-weight %g, want %g",
				r.Done(), delta, want, r.LogWeight[0], z)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
