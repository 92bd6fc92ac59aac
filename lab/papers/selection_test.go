package papers

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"infill/lab/internal/diag"
	"infill/lab/targets"
	"infill/samplers"
)

// TestSelectionMarginals: the sums over 3^d sums are the sums over 2^2d states.
func TestSelectionMarginals(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := must(NewSelection(rand.New(rand.NewPCG(1, 2)), 60, 4))
	got, err := l.Marginals(ctx)
	if err != nil {
		t.Fatal(err)
	}
	e := must(targets.Enumerate(ctx, l))
	for i, p := range got {
		if want := e.Marginal(i)[1]; math.Abs(p-want) > 1e-12 || p != got[(i+4)%8] {
			t.Errorf("P(β_%d = 1) is %.15f, by enumeration %.15f", i, p, want)
		}
	}
	if _, err := must(NewSelection(rand.New(rand.NewPCG(1, 2)), 1, 11)).Marginals(ctx); !errors.Is(err,
		targets.ErrTooLarge) {
		t.Errorf("3^11 sums: %v", err)
	}
	ended, stop := context.WithCancel(ctx)
	stop()
	if _, err := l.Marginals(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}

// TestSelectionSums compares sums with energies one by one, over several blocks and products, with
// columns so large that exp overflows.
func TestSelectionSums(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := must(NewSelection(rand.New(rand.NewPCG(9, 2)), 700, 7))
	copy(l.row(5), []float64{300, -300, 200, 0, 1, 2, 3})
	copy(l.row(6), []float64{-800, 800, -1, 0, 1, 2, 3})
	sums, err := l.Sums(ctx)
	if err != nil || len(sums) != 2187 {
		t.Fatalf("%d sums, %v", len(sums), err)
	}
	x, u := make([]int32, 14), make([]float64, 1)
	for s, got := range sums {
		for j, rest := 0, s; j < 7; j, rest = j+1, rest/3 {
			x[j], x[7+j] = int32(rest%3/2), int32((rest%3+1)/2)
		}
		if err := l.Energy(ctx, [][]int32{x}, u); err != nil {
			t.Fatal(err)
		}
		if math.Abs(got-u[0]) > 1e-11*math.Abs(u[0]) {
			t.Fatalf("sum %d is %.12f, the energy %.12f", s, got, u[0])
		}
	}
}

// BenchmarkSelectionSums has a hundredth of the paper's rows.
func BenchmarkSelectionSums(b *testing.B) {
	l := must(NewSelection(rand.New(rand.NewPCG(9, 2)), 1000, 9))
	for b.Loop() {
		must(l.Sums(b.Context()))
	}
}

// TestSelectionData: the rows have the covariance (I + 11ᵀ)/d, and the labels the law that the
// columns below √d give.
func TestSelectionData(t *testing.T) {
	t.Parallel()
	const n, d = 40000, 5 // √5: columns 0, 1 and 2
	l := must(NewSelection(rand.New(rand.NewPCG(3, 4)), n, d))
	for i := range d {
		for j := range i + 1 {
			sum := 0.0
			for r := range n {
				sum += l.X[r*d+i] * l.X[r*d+j] / n
			}
			want := 1. / d
			if i == j {
				want = 2. / d
			}
			if math.Abs(sum-want) > 0.012 { // five standard errors
				t.Errorf("covariance of columns %d and %d is %.4f, want %.4f", i, j, sum, want)
			}
		}
	}
	var score [d]float64 // of the likelihood at the truth: mean 0, variance below 2/d·1/4
	for r := range n {
		a := l.X[r*d] + l.X[r*d+1] + l.X[r*d+2]
		for j := range d {
			score[j] += (l.Y[r] - 1/(1+math.Exp(-a))) * l.X[r*d+j] / n
		}
	}
	for j, s := range score {
		if math.Abs(s) > 5*math.Sqrt(2./d/4/n) {
			t.Errorf("the score of column %d is %.5f at the truth", j, s)
		}
	}
}

// TestSelectionEstimates: gradients are differences along the line, a mini-batch of one observation
// has the ratios of a model of it alone, and both are unbiased.
func TestSelectionEstimates(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := must(NewSelection(rand.New(rand.NewPCG(5, 6)), 50, 3))
	x := []int32{1, 0, 1, 1, 0, 0}
	u, g := make([]float64, 1), [][]float64{make([]float64, 6)}
	if err := l.EnergyGrad(ctx, [][]int32{x}, u, g); err != nil {
		t.Fatal(err)
	}
	smooth := func(j int, h float64) float64 { // U with β_j + h
		s := 0.0
		for r, y := range l.Y {
			a := h * l.X[r*3+j%3]
			for i, v := range x {
				a += float64(v) * l.X[r*3+i%3]
			}
			s += y*a - math.Log1p(math.Exp(a))
		}
		return s
	}
	energies := make([]float64, 7)
	if err := l.Energy(ctx, neighboursOf(x), energies); err != nil {
		t.Fatal(err)
	}
	for j := range x {
		if want := (smooth(j, 1e-5) - smooth(j, -1e-5)) / 2e-5; math.Abs(g[0][j]-want) > 1e-6 {
			t.Errorf("slope %d is %g, differences give %g", j, g[0][j], want)
		}
	}
	if math.Abs(u[0]-smooth(0, 0)) > 1e-9 || math.Abs(energies[0]-u[0]) > 1e-9 {
		t.Errorf("U is %g, %g and %g", u[0], energies[0], smooth(0, 0))
	}
	const draws = 20000
	rng, twin := rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(1, 1))
	sum, squares, slope := make([]float64, 6), make([]float64, 6), make([]float64, 6)
	got, grad, su := make([]float64, 6), [][]float64{make([]float64, 6)}, make([]float64, 1)
	for n := range draws {
		if err := l.EstimateRatios(ctx, [][]int32{x}, 1, []*rand.Rand{rng},
			[][]float64{got}, nil); err != nil {
			t.Fatal(err)
		}
		if n < 10 { // the model of the observation that was drawn
			r := twin.IntN(l.N)
			one := &Selection{N: 1, D: 3, X: l.row(r), Y: l.Y[r : r+1], dom: l.dom}
			v := make([]float64, 7)
			if err := one.Energy(ctx, neighboursOf(x), v); err != nil {
				t.Fatal(err)
			}
			for j, e := range got {
				if want := 50 * (v[j+1] - v[0]); math.Abs(e-want) > 1e-9 {
					t.Errorf("draw %d: log-ratio %d is %g, want %g", n, j, e, want)
				}
			}
		}
		if err := l.StochasticGrad(ctx, [][]int32{x}, 1, []*rand.Rand{rng}, su, grad); err != nil {
			t.Fatal(err)
		}
		if n < 10 {
			twin.IntN(l.N)
		}
		for j, v := range got {
			sum[j] += v / draws
			squares[j] += v * v / draws
			slope[j] += grad[0][j] / draws
		}
	}
	for j := range x {
		se := math.Sqrt((squares[j] - sum[j]*sum[j]) / draws)
		if want := energies[j+1] - energies[0]; math.Abs(sum[j]-want) > 5*se {
			t.Errorf("mean log-ratio %d is %g ± %g, want %g", j, sum[j], se, want)
		}
		if math.Abs(slope[j]-g[0][j]) > 10*se {
			t.Errorf("mean slope %d is %g, want %g", j, slope[j], g[0][j])
		}
	}
}

// TestSGDLDOnSelection: the variants of the paper's figure 3 on a small problem. With the cache
// the marginals come nearer to the truth than without. A constant simulation time suffers from
// small mini-batches more, and with large ones it is near the truth.
func TestSGDLDOnSelection(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := must(NewSelection(rand.New(rand.NewPCG(7, 8)), 80, 3))
	truth, err := l.Marginals(ctx)
	if err != nil {
		t.Fatal(err)
	}
	run := func(s *samplers.SGDLD, steps int) (worst float64) {
		x0 := make([][]int32, 20)
		for k := range x0 {
			x0[k] = make([]int32, 6)
		}
		r, err := samplers.Start(ctx, s, l, x0, samplers.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		ones := diag.NewTally(6)
		err = r.Steps(ctx, steps, func(r *samplers.Run) error {
			for k, x := range r.X {
				if r.Done() <= steps/10 {
					break
				}
				w := ones.Weigh(r.LogWeight[k])
				for i, v := range x {
					ones.Sum[i] += w * float64(v)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, sum := range ones.Sum {
			worst += math.Abs(sum/ones.Total-truth[i]) / 6
		}
		return worst
	}
	cached := run(&samplers.SGDLD{Jump: 0.1, Batch: 4}, 1500)
	bare := run(&samplers.SGDLD{Jump: 0.1, Batch: 4, NoCache: true}, 1500)
	constant := run(&samplers.SGDLD{Time: 0.01, Batch: 4}, 1500)
	all := run(&samplers.SGDLD{Time: 0.01, Batch: 80}, 1500)
	t.Logf("error of the marginals: %.4f, without cache %.4f, constant time %.4f, large batches %.4f",
		cached, bare, constant, all)
	if !(cached < 0.06 && bare > 2*cached && constant < 0.12 && all < 0.04) {
		t.Errorf("error of the marginals: %.4f, without cache %.4f, constant time %.4f, large batches %.4f",
			cached, bare, constant, all)
	}
}

// TestSelectionEstimatesLargeBatch: a mini-batch of many observations, some with columns that make
// exp overflow, has the ratios of a model of just these.
func TestSelectionEstimatesLargeBatch(t *testing.T) {
	t.Parallel()
	l := must(NewSelection(rand.New(rand.NewPCG(5, 7)), 900, 3))
	copy(l.row(5), []float64{400, -400, 30})
	copy(l.row(6), []float64{-900, 900, 1})
	x := []int32{1, 0, 1, 1, 0, 0}
	got := make([]float64, 6)
	twin := rand.New(rand.NewPCG(2, 2))
	drawn := &Selection{N: 900, D: 3, dom: l.dom}
	hit := false
	for range 900 {
		r := twin.IntN(900)
		hit = hit || r == 5 || r == 6
		drawn.X, drawn.Y = append(drawn.X, l.row(r)...), append(drawn.Y, l.Y[r])
	}
	if !hit {
		t.Fatal("no large column was drawn")
	}
	if err := l.EstimateRatios(t.Context(), [][]int32{x}, 900,
		[]*rand.Rand{rand.New(rand.NewPCG(2, 2))}, [][]float64{got}, nil); err != nil {
		t.Fatal(err)
	}
	u := make([]float64, 7)
	if err := drawn.Energy(t.Context(), neighboursOf(x), u); err != nil {
		t.Fatal(err)
	}
	for j, e := range got {
		if want := u[j+1] - u[0]; math.Abs(e-want) > 1e-9*math.Abs(u[0]) {
			t.Errorf("log-ratio %d is %g, want %g", j, e, want)
		}
	}
}

// BenchmarkSelectionEstimate has the paper's mini-batch.
func BenchmarkSelectionEstimate(b *testing.B) {
	l := must(NewSelection(rand.New(rand.NewPCG(9, 2)), 10000, 9))
	rng, x := []*rand.Rand{rand.New(rand.NewPCG(1, 1))}, [][]int32{make([]int32, 18)}
	x[0][0], x[0][10], x[0][2] = 1, 1, 1
	out := [][]float64{make([]float64, 18)}
	for b.Loop() {
		if err := l.EstimateRatios(b.Context(), x, 1000, rng, out, nil); err != nil {
			b.Fatal(err)
		}
	}
}
