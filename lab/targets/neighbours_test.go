package targets

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"infill/samplers"
)

// TestNeighbourEstimates: the log-ratios that a mini-batch gives equal those of
// the posterior of its observations, scaled to all of them, by U of that
// posterior.
func TestNeighbourEstimates(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := must(NewLogReg(rand.New(rand.NewPCG(3, 4)), 40, 6, 0.3))
	x := []int32{1, 0, 1, 1, 0, 0}
	for _, batch := range []int{1, 7, 40, 1000} {
		got := make([]float64, l.D)
		err := l.EstimateRatios(ctx, [][]int32{x}, batch, []*rand.Rand{rand.New(rand.NewPCG(9, 9))},
			[][]float64{got}, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := min(batch, l.N)
		sub := &LogReg{N: n, D: l.D, Beta: l.Beta, Prior: 0.5, dom: l.dom}
		draws := rand.New(rand.NewPCG(9, 9))
		for range n {
			r := draws.IntN(l.N)
			sub.X, sub.Y = append(sub.X, l.X[r*l.D:(r+1)*l.D]...), append(sub.Y, l.Y[r])
		}
		u := make([]float64, l.D+1)
		if err := sub.Energy(ctx, neighboursOf(x), u); err != nil {
			t.Fatal(err)
		}
		for i, v := range x {
			want := float64(l.N)/float64(n)*(u[i+1]-u[0]) +
				float64(1-2*v)*(math.Log(0.3)-math.Log(0.7))
			if math.Abs(got[i]-want) > 1e-9 {
				t.Errorf("batch %d, feature %d: log-ratio %.12f, want %.12f", batch, i, got[i], want)
			}
		}
	}
}

// TestNeighbourEstimatesAreUnbiased: their mean is the difference of U.
func TestNeighbourEstimatesAreUnbiased(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := must(NewLogReg(rand.New(rand.NewPCG(5, 6)), 30, 5, 0.4))
	x := []int32{0, 1, 1, 0, 1}
	u := make([]float64, l.D+1)
	if err := l.Energy(ctx, neighboursOf(x), u); err != nil {
		t.Fatal(err)
	}
	const draws = 20000
	rng := []*rand.Rand{rand.New(rand.NewPCG(1, 1))}
	got, sum, squares := make([]float64, l.D), make([]float64, l.D), make([]float64, l.D)
	for range draws {
		if err := l.EstimateRatios(ctx, [][]int32{x}, 2, rng, [][]float64{got}, nil); err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			sum[i] += v
			squares[i] += v * v
		}
	}
	for i := range x {
		mean := sum[i] / draws
		se := math.Sqrt((squares[i]/draws - mean*mean) / draws)
		if want := u[i+1] - u[0]; !(math.Abs(mean-want) < 5*se) {
			t.Errorf("feature %d: mean log-ratio %.3f ± %.3f, want %.3f", i, mean, se, want)
		}
	}
}

// neighboursOf is a binary state and all that differ from it in one place.
func neighboursOf(x []int32) [][]int32 {
	out := [][]int32{x}
	for i := range x {
		y := append([]int32(nil), x...)
		y[i] = 1 - y[i]
		out = append(out, y)
	}
	return out
}

// TestSGDLDRatesFromNeighbours: with the log-ratios of mini-batches SGDLD's weighted
// states come near the enumerated posterior as h falls. With Taylor rates they do not.
func TestSGDLDRatesFromNeighbours(t *testing.T) {
	t.Parallel()
	l := must(NewLogReg(rand.New(rand.NewPCG(8, 8)), 25, 4, 0.4))
	for i := range l.Beta {
		l.Beta[i] *= 2 // far from linear between neighbours
	}
	e, err := Enumerate(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	tv := func(rates string, jump float64, steps, batch int) float64 {
		s := must(samplers.New("sgdld", map[string]string{
			"rates": rates, "jump": fmt.Sprint(jump), "batch": fmt.Sprint(batch),
		}))
		x0 := make([][]int32, 40)
		for k := range x0 {
			x0[k] = make([]int32, l.D)
		}
		run, err := samplers.Start(context.Background(), s, l, x0, samplers.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		sum := make([]float64, len(e.P))
		err = run.Steps(context.Background(), steps, func(r *samplers.Run) error {
			for k, x := range r.X {
				if r.Done() > steps/10 {
					sum[e.Index(x)] += math.Exp(r.LogWeight[k]) // a target so small that it is a number
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return e.TV(sum)
	}
	exact, taylor := tv("ratios", 0.05, 3000, 15), tv("taylor", 0.05, 3000, 15)
	far, auto := tv("ratios", 0.9, 400, 15), tv("auto", 0.05, 3000, 15)
	t.Logf("total variation: ratios %.4f, at h = .9 %.4f, taylor %.4f", exact, far, taylor)
	if !(exact < 0.05 && far > 2*exact && taylor > 2*exact) || auto != exact {
		t.Errorf("total variation: ratios %.4f, at h = .9 %.4f, taylor %.4f, auto %.4f", exact, far,
			taylor, auto)
	}
}

// BenchmarkLogReg compares the two kinds of estimates: see LogReg.RatioKind.
func BenchmarkLogReg(b *testing.B) {
	l := must(NewLogReg(rand.New(rand.NewPCG(1, 1)), 500, 100, 0.1))
	x, rng := [][]int32{make([]int32, 100)}, []*rand.Rand{rand.New(rand.NewPCG(1, 1))}
	u, g := make([]float64, 1), [][]float64{make([]float64, 100)}
	ctx := context.Background()
	b.Run("gradient", func(b *testing.B) {
		for b.Loop() {
			if err := l.StochasticGrad(ctx, x, 10, rng, u, g); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ratios", func(b *testing.B) {
		for b.Loop() {
			if err := l.EstimateRatios(ctx, x, 10, rng, g, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
