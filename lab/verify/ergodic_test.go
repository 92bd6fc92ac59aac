package verify

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"infill/lab/targets"
	"infill/samplers"
)

// TestCurvature compares with the eigenvalues of XᵀX in closed form.
func TestCurvature(t *testing.T) {
	t.Parallel()
	target := newLeastSquares(rand.New(rand.NewPCG(4, 13)), 5, 2)
	var a, b, c float64 // XᵀX = (a b; b c)
	for _, x := range target.x {
		a, b, c = a+x[0]*x[0], b+x[0]*x[1], c+x[1]*x[1]
	}
	root := math.Hypot((a-c)/2, b)
	most, least := must(quadraticOf(context.Background(), target)).curvature()
	if math.Abs(most-(a+c)/2-root) > 1e-9 || math.Abs(least-(a+c)/2+root) > 1e-9 {
		t.Errorf("%g and %g, want %g and %g", most, least, (a+c)/2+root, (a+c)/2-root)
	}
}

// TestCorrected compares a row of the matrix with steps of the sampler, and the whole matrix with
// detailed balance.
func TestCorrected(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	target := batchTarget()
	e := must(targets.Enumerate(ctx, target))
	const alpha, beta, chains, from = .8, .8, 40000, 5
	p := must(cycleOf(ctx, target, e, []pace{{alpha, beta}}))
	for s := range p {
		sum := 0.0
		for r := range p {
			sum += p[s][r]
			if math.Abs(p[s][r]*e.P[s]-p[r][s]*e.P[r]) > 1e-15 {
				t.Errorf("states %d and %d are not in balance", s, r)
			}
		}
		if math.Abs(sum-1) > 1e-12 || p[s][s] < 0 {
			t.Errorf("row %d sums to %g, and stays with %g", s, sum, p[s][s])
		}
	}
	x := make([][]int32, chains)
	for k := range x {
		x[k] = make([]int32, target.Domain().Len())
		e.State(from, x[k])
	}
	run := must(samplers.Start(ctx, &samplers.ACS{AlphaMax: alpha, AlphaMin: alpha, BetaMax: beta,
		BetaMin: beta, FixedBeta: true}, target, x, samplers.Options{Seed: 3}))
	if err := run.Steps(ctx, 1, nil); err != nil {
		t.Fatal(err)
	}
	count := make([]float64, len(p))
	for _, x := range run.X {
		count[e.Index(x)]++
	}
	chi2 := 0.0
	for s, q := range p[from] {
		chi2 += (count[s] - chains*q) * (count[s] - chains*q) / (chains * q)
	}
	if chi2 > 45 { // 15 degrees of freedom: one in 10,000
		t.Errorf("χ² of one step is %.1f", chi2)
	}
}

// TestStepsTo compares with one multiplication after the other.
func TestStepsTo(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	target := batchTarget()
	e := must(targets.Enumerate(ctx, target))
	for _, alpha := range []float64{.15, .3, .5, 1, 5} {
		p := must(cycleOf(ctx, target, e, []pace{{alpha, .5}}))
		for _, tv := range []float64{.5, .1, .01} {
			want, at := 1, p
			for farthest(e, at) > tv {
				want, at = want+1, product(at, p)
			}
			if got := stepsTo(e, p, tv); got != want {
				t.Errorf("α = %g: %d steps to %g, want %d", alpha, got, tv, want)
			}
		}
	}
}

// TestErgodic tries lemma 5.3 on random targets, and the theorems with it.
func TestErgodic(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(5, 13))
	closest := math.Inf(1)
	for range 1000 {
		d := 1 + rng.IntN(3)
		target := newLeastSquares(rng, d+rng.IntN(4), d)
		scale := math.Exp(rng.NormFloat64() / 3)
		for r := range target.x {
			target.y[r] *= scale * math.Exp(rng.NormFloat64()/2)
			for i := range target.x[r] {
				target.x[r][i] *= scale
			}
		}
		most, _ := must(quadraticOf(ctx, target)).curvature()
		cycle := make([]pace, 1+rng.IntN(3))
		for k := range cycle {
			cycle[k].beta = .5 + .5*rng.Float64()
			cycle[k].alpha = (.1 + .89*rng.Float64()) / (cycle[k].beta * most)
		}
		b := must(ergodicOf(ctx, target, cycle))
		if b.lemma < b.epsilon || b.any < b.lemma || float64(b.steps) > b.bound+1 {
			t.Errorf("%+v: %+v", cycle, b)
		}
		closest = min(closest, b.lemma/b.epsilon)
	}
	if closest > 100 {
		t.Errorf("no target comes nearer to the lemma than %.3g times: is it tried?", closest)
	}
}
