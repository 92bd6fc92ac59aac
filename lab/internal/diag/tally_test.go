package diag

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"infill/lab/internal/domain"
	"infill/samplers"
)

// TestTallyOfFarWeights: weights that exp cannot give have the same sums as the weights over a
// common factor, in whatever order they come and however they are put together.
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

// TestSGDLDFarWeights: where the rates are beyond exp, every state has the weight h/Z of the closed
// form, and the weighted marginals are the target's.
func TestSGDLDFarWeights(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, b := range [][]float64{
		{2000, -2600}, {-1900, 2000}, {0.7, 4000, 4000}, {-0.7, 3000, -1}, {1, -1.5, 0.3},
	} {
		l := linear{domain.Bits(len(b)), b}
		x0 := make([][]int32, 8)
		for k := range x0 {
			x0[k] = make([]int32, len(b))
		}
		run, err := samplers.Start(ctx, &samplers.SGDLD{Jump: 0.5}, l, x0, samplers.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		var m Marginals
		mean := Trace{Scalar: func(r *samplers.Run, k int) float64 { return float64(r.X[k][0]) }}
		err = run.Steps(ctx, 2500, func(r *samplers.Run) error {
			for k, x := range r.X {
				most, sum := math.Inf(-1), 0.0
				for i, v := range x {
					most = max(most, b[i]*float64(1-2*v)/2)
				}
				for i, v := range x {
					sum += math.Exp(b[i]*float64(1-2*v)/2 - most)
				}
				want := math.Log(0.5) - most - math.Log(sum)
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

// TestMarginalsByHand: weights count, and values are numbers.
func TestMarginalsByHand(t *testing.T) {
	t.Parallel()
	run := &samplers.Run{Chains: &samplers.Chains{
		Domain: domain.Spins(2), X: [][]int32{{0, 1}, {1, 1}}, LogWeight: []float64{0, math.Log(3)}}}
	var m Marginals
	if m.Of(0) != nil || m.Mean(0) != 0 {
		t.Error("marginals of nothing")
	}
	for _, w := range []float64{3, 0} { // 1 and 3, then 1 and 0
		run.LogWeight[1] = math.Log(w)
		if err := m.Observe(run); err != nil {
			t.Fatal(err)
		}
	}
	if p := m.Of(0); !(math.Abs(p[0]-0.4)+math.Abs(p[1]-0.6) < 1e-15) || !(math.Abs(m.Mean(0)-0.2) < 1e-15) ||
		m.Mean(1) != 1 {
		t.Errorf("marginals %v, means %g and %g", p, m.Mean(0), m.Mean(1))
	}
}
