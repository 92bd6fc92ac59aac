package samplers

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// TestTallyOfFarWeights: the sums of weights that exp cannot give are those of the weights
// over a common factor, in whatever order they come and however they are put together.
func TestTallyOfFarWeights(t *testing.T) {
	t.Parallel()
	// In parts of e^5000: 1, 3 and ½, and what is lost beside them.
	log := []float64{-9000, 5000, math.Inf(-1), 5000 + math.Log(3), 0, 5000 - math.Ln2}
	value := []float64{100, 2, math.NaN(), 4, -1e9, 8}
	const mean = (2 + 3*4 + 0.5*8) / 4.5
	rng := rand.New(rand.NewPCG(1, 5))
	for range 40 {
		order := rng.Perm(len(log))
		whole, parts := NewTally(1), []*Tally{NewTally(1), NewTally(1), NewTally(1)}
		for _, j := range order {
			for _, tally := range []*Tally{whole, parts[rng.IntN(2)]} {
				if w := tally.Weigh(log[j]); w > 0 {
					tally.Sum[0] += w * value[j]
				}
			}
		}
		joined := NewTally(1)
		for _, p := range parts {
			joined.Add(p)
		}
		for _, tally := range []*Tally{whole, joined} {
			if got := tally.Sum[0] / tally.Total; !(math.Abs(got-mean) < 1e-12) {
				t.Fatalf("order %v: mean %g, want %g", order, got, mean)
			}
			if got := math.Log(tally.Total) + tally.Scale; !(math.Abs(got-5000-math.Log(4.5)) < 1e-12) {
				t.Fatalf("order %v: the weights are together e^%g", order, got)
			}
		}
	}
	none := NewTally(1)
	if w := none.Weigh(math.Inf(-1)); w != 0 || none.Total != 0 {
		t.Errorf("a weight of 0 counts %g of %g", w, none.Total)
	}
}

// TestTallyOfEqualWeights: weights of 1 give the plain sum, to the last bit.
func TestTallyOfEqualWeights(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 6))
	tally, sum := NewTally(1), 0.0
	for range 1000 {
		f := rng.NormFloat64()
		sum += f
		w := tally.Weigh(0)
		tally.Sum[0] += w * f
	}
	if tally.Sum[0] != sum || tally.Total != 1000 {
		t.Errorf("sum %v of %v weights, want %v of 1000", tally.Sum[0], tally.Total, sum)
	}
}

// TestSGDLDFarWeights: where the rates are beyond exp, every state has the weight h/Z of
// the closed form, and the weighted marginals are those of the target.
func TestSGDLDFarWeights(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, b := range [][]float64{
		{2000, -2600}, {-1900, 2000}, {0.7, 4000, 4000}, {-0.7, 3000, -1}, {1, -1.5, 0.3},
	} {
		l := linear{flat{Bits(len(b))}, b}
		run, err := Start(ctx, &SGDLD{Jump: 0.5}, l, matrix[int32](8, len(b)), Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		var m Marginals
		mean := Trace{Scalar: func(r *Run, k int) float64 { return float64(r.X[k][0]) }}
		err = run.Steps(ctx, 2500, func(r *Run) error {
			for k, x := range r.X {
				rates := make([]float64, len(b))
				for i, v := range x {
					rates[i] = b[i] * float64(1-2*v) / 2
				}
				want := math.Log(0.5) - logSumExp(rates)
				if got := r.LogWeight[k]; !(math.Abs(got-want) < 1e-12*(1+math.Abs(want))) {
					t.Fatalf("%v at %v: log-weight %g, want %g", b, x, got, want)
				}
			}
			if err := mean.Observe(r); err != nil {
				return err
			}
			return m.Observe(r)
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range b {
			want := 1 / (1 + math.Exp(-e))
			if got := m.Of(i)[1]; !(math.Abs(got-want) < 0.03) {
				t.Errorf("%v: P(x_%d = 1) is %.3f, want %.3f", b, i, got, want)
			}
		}
		if got, want := mean.Diagnose(run).Mean, m.Of(0)[1]; !(math.Abs(got-want) < 1e-9) {
			t.Errorf("%v: the traced mean is %g, the marginal %g", b, got, want)
		}
		for k, s := range run.Stats {
			if s.NonFinite > 0 || s.Hamming < 500 {
				t.Errorf("%v: chain %d: %+v", b, k, s)
			}
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
