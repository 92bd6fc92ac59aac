package verify

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"infill/lab/targets"
	"infill/samplers"
)

// TestEachBatch compares the mini-batches in any order with all ordered ones.
func TestEachBatch(t *testing.T) {
	t.Parallel()
	const n = 5
	target := newLeastSquares(rand.New(rand.NewPCG(2, 61)), n, 3)
	s := []int32{1, 0, 1}
	f := func(g []float64) float64 { return math.Exp(g[0]) + math.Tanh(g[1]*g[2]) }
	for batch := 1; batch <= 4; batch++ {
		total, got, want := 0.0, 0.0, 0.0
		target.eachBatch(s, batch, func(p float64, g []float64) {
			total += p
			got += p * f(g)
		})
		all := int(math.Pow(n, float64(batch)))
		for code := range all {
			g := make([]float64, len(s))
			for k := range batch {
				target.add(code/int(math.Pow(n, float64(k)))%n, s, n/float64(batch), g)
			}
			want += f(g) / float64(all)
		}
		if math.Abs(total-1) > 1e-12 || math.Abs(got/want-1) > 1e-12 {
			t.Errorf("batch %d: probabilities sum to %g, mean %g, want %g", batch, total, got, want)
		}
	}
}

// TestLeastSquares compares the gradient with differences. U is quadratic, so that those between
// θ_i = 1 and 0 and the mean of both gradients are equal.
func TestLeastSquares(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	target := batchTarget()
	e := must(targets.Enumerate(ctx, target))
	d := target.Domain().Len()
	x := [][]int32{make([]int32, d), make([]int32, d)}
	u, g := make([]float64, 2), [][]float64{make([]float64, d), make([]float64, d)}
	for s := range e.P {
		for i := range d {
			e.State(s, x[0])
			copy(x[1], x[0])
			x[0][i], x[1][i] = 0, 1
			if err := target.EnergyGrad(ctx, x, u, g); err != nil {
				t.Fatal(err)
			}
			if got, want := (g[0][i]+g[1][i])/2, u[1]-u[0]; math.Abs(got-want) > 1e-12 {
				t.Errorf("state %d, site %d: gradients say %g, energies %g", s, i, got, want)
			}
		}
	}
}

// TestTheorem61 tries both bounds of section 9 on random targets.
func TestTheorem61(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(3, 61))
	tight := 0.0
	for range 60 {
		target := newLeastSquares(rng, 2+rng.IntN(4), 1+rng.IntN(3))
		alpha := math.Exp(rng.NormFloat64() - 2)
		b := must(target.biasOf(ctx, alpha, 1+rng.IntN(3)))
		if b.step > b.paper || b.step > b.derived {
			t.Errorf("α = %g: %+v", alpha, b)
		}
		tight = max(tight, b.step/b.derived)
	}
	if tight < .5 {
		t.Errorf("the derived bound is %.2g times the distance at least: is it of use?", 1/tight)
	}
}

// TestBatchLaws: the bias of the laws stays where α falls, with mini-batches only.
func TestBatchLaws(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	target := batchTarget()
	small, smaller := must(target.biasOf(ctx, .05, 1)), must(target.biasOf(ctx, .01, 1))
	if math.Abs(small.bias/smaller.bias-1) > .01 || small.bias < .2 {
		t.Errorf("one observation: %g and %g, want the same", small.bias, smaller.bias)
	}
	if small.own > 1e-4 || smaller.own > 1e-10 {
		t.Errorf("full gradients: %g and %g, want next to none", small.own, smaller.own)
	}
}

// TestBatchDrawn runs the sampler itself.
func TestBatchDrawn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	target := batchTarget()
	e := must(targets.Enumerate(ctx, target))
	const chains, alpha, batch = 20000, .5, 1
	q, b, err := target.batchTransition(ctx, e, alpha, batch)
	if err != nil {
		t.Fatal(err)
	}
	law := stationary(q)
	run := must(samplers.Start(ctx, &samplers.DULA{StepSize: alpha, Batch: batch}, target,
		starts(target.Domain(), chains, 1), samplers.Options{Seed: 1}))
	if err := run.Steps(ctx, 60, nil); err != nil {
		t.Fatal(err)
	}
	count := make([]float64, len(law))
	for _, x := range run.X {
		count[e.Index(x)]++
	}
	chi2, off := 0.0, 0.0
	for s, p := range law {
		chi2 += (count[s] - chains*p) * (count[s] - chains*p) / (chains * p)
		off += (count[s] - chains*e.P[s]) * (count[s] - chains*e.P[s]) / (chains * e.P[s])
	}
	if chi2 > 45 { // 15 degrees of freedom: one in 10,000
		t.Errorf("χ² is %.1f to the law with mini-batches, with σ = %.3g", chi2, b.sigma)
	}
	if off < 200 {
		t.Errorf("χ² is %.1f to the target, which the test must tell from the law", off)
	}
}
