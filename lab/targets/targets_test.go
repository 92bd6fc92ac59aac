package targets

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"infill/lab/internal/check"
	"infill/lab/targets/targetstest"
	"infill/samplers"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// small returns one enumerable instance of every target.
func small() map[string]samplers.Gradienter {
	rng := rand.New(rand.NewPCG(11, 1))
	norm := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = rng.NormFloat64()
		}
		return out
	}
	return map[string]samplers.Gradienter{
		"categorical":    must(NewCategorical([][]float64{norm(3), norm(2), norm(5)})),
		"bernoulli":      must(NewBernoulli(norm(5), false)),
		"bernoulli ±1":   must(NewBernoulli(norm(5), true)),
		"ising periodic": must(NewIsing(3, 3, true, 0.3, norm(9), false)),
		"ising 4 rows":   must(NewIsing(4, 2, true, 0.3, norm(8), false)),
		"ising open":     must(NewIsing(2, 4, false, 0.3, norm(8), true)),
		"ising ring":     must(NewIsing(1, 5, true, 0.3, norm(5), true)),
		"ising 2 rows":   must(NewIsing(2, 3, true, -0.2, norm(6), false)),
		"potts":          must(NewPotts(2, 3, 3, false, 0.7, norm(18))),
		"potts periodic": must(NewPotts(3, 2, 3, true, 0.7, norm(3))),
		"gaussbern": must(
			NewGaussianBernoulli([]float64{1, .5, .2, .5, 1.5, 0, .2, 0, .7}, norm(3)),
		),
		"logreg": must(NewLogReg(rng, 30, 6, 0.3)),
		"modes":  must(NewModes(2, 8, 1.5, []float64{1, 2, 3, 4})),
	}
}

// exactGradient lists the targets whose Δ equals the difference of energies.
var exactGradient = map[string]bool{
	"categorical": true, "bernoulli": true, "bernoulli ±1": true, "ising periodic": true, "ising open": true, "ising ring": true, "ising 2 rows": true,
	"potts": true, "potts periodic": true, "gaussbern": true,
}

func TestAbilitiesAgree(t *testing.T) {
	t.Parallel()
	targetstest.Abilities(t, small(), exactGradient)
}

// TestSmoothGradients checks the gradients that are derivatives of a formula
// on real numbers, by finite differences of that formula.
func TestSmoothGradients(t *testing.T) {
	t.Parallel()
	all := small()
	const h = 1e-5
	m := all["modes"].(*Modes)
	f := func(a, b float64) float64 {
		s := 0.0
		for j, l := range m.LogW {
			dx := (float64(j%2)+0.5)*8 - 0.5 - a
			dy := (float64(j/2)+0.5)*8 - 0.5 - b
			s += math.Exp(l - (dx*dx+dy*dy)/(2*m.Sigma*m.Sigma))
		}
		return math.Log(s)
	}
	g := make([]float64, 2)
	u := m.eval([]int32{3, 7}, g)
	if math.Abs(u-f(3, 7)) > 1e-10 || math.Abs(g[0]-(f(3+h, 7)-f(3-h, 7))/(2*h)) > 1e-6 ||
		math.Abs(g[1]-(f(3, 7+h)-f(3, 7-h))/(2*h)) > 1e-6 {
		t.Errorf("modes: U %g, gradient %v", u, g)
	}
	l := all["logreg"].(*LogReg)
	lf := func(v []float64) float64 {
		s := 0.0
		for i := range v {
			s += v[i] * math.Log(l.Prior/(1-l.Prior))
		}
		for n, y := range l.Y {
			a := 0.0
			for i := range v {
				a += l.X[n*l.D+i] * l.Beta[i] * v[i]
			}
			s += math.Log(1 / (1 + math.Exp(-y*a)))
		}
		return s
	}
	targetstest.Smooth(t, "logreg", l, lf)
}

func TestExactAnswers(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, target := range small() {
		e := must(Enumerate(ctx, target))
		switch v := target.(type) {
		case *Categorical:
			if math.Abs(v.LogZ()-e.LogZ) > 1e-10 {
				t.Errorf("%s: log Z %g, enumerated %g", name, v.LogZ(), e.LogZ)
			}
		case *Bernoulli:
			if math.Abs(v.LogZ()-e.LogZ) > 1e-10 {
				t.Errorf("%s: log Z %g, enumerated %g", name, v.LogZ(), e.LogZ)
			}
			for i := range v.Theta {
				if p := e.Marginal(i)[1]; math.Abs(v.Mean(i)-p) > 1e-12 {
					t.Errorf("%s: mean %d is %g, enumerated %g", name, i, v.Mean(i), p)
				}
			}
		case *Ising:
			z, mean, err := v.Exact()
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(z-e.LogZ) > 1e-10 {
				t.Errorf("%s: log Z %g, enumerated %g", name, z, e.LogZ)
			}
			for i := range mean {
				if want := 2*e.Marginal(i)[1] - 1; math.Abs(mean[i]-want) > 1e-10 {
					t.Errorf("%s: E[s_%d] = %g, enumerated %g", name, i, mean[i], want)
				}
			}
		}
	}
}

func TestStochasticGradientsAreUnbiased(t *testing.T) {
	t.Parallel()
	l := small()["logreg"].(*LogReg)
	x := [][]int32{{1, 0, 1, 1, 0, 0}}
	u, g := make([]float64, 1), [][]float64{make([]float64, l.D)}
	if err := l.EnergyGrad(context.Background(), x, u, g); err != nil {
		t.Fatal(err)
	}
	const n = 20000
	rng := []*rand.Rand{rand.New(rand.NewPCG(2, 2))}
	su, sg := make([]float64, 1), [][]float64{make([]float64, l.D)}
	mean, sq := make([]float64, l.D), make([]float64, l.D)
	for range n {
		if err := l.StochasticGrad(context.Background(), x, 3, rng, su, sg); err != nil {
			t.Fatal(err)
		}
		for i, v := range sg[0] {
			mean[i] += v / n
			sq[i] += v * v / n
		}
	}
	for i := range mean {
		sd := math.Sqrt((sq[i] - mean[i]*mean[i]) / n)
		if math.Abs(mean[i]-g[0][i]) > 5*sd {
			t.Errorf("mean of stochastic gradient %d is %g ± %g, gradient %g", i, mean[i], sd, g[0][i])
		}
	}
}

// What is refused is named, with what is allowed.
func TestBadShapes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		err  error
		says string
	}{
		{second(NewIsing(-1, 5, true, 1, []float64{0}, false)), "Ising model: rows is -1, want 1 to 16777216"},
		{second(NewIsing(1<<20, 1<<20, true, 1, []float64{0}, false)), "rows × columns is 1099511627776, want at most 16777216"},
		{second(NewIsing(2, 3, true, math.NaN(), []float64{0}, false)), "coupling is NaN, want a finite number"},
		{second(NewIsing(2, 3, true, 1, []float64{0, 1}, false)), "field values is 2, want 1 or 6"},
		{second(NewIsing(2, 3, true, 1, nil, false)), "field values is 0, want 1 or 6"},
		{second(NewPotts(2, 2, 1, true, 1, nil)), "categories is 1, want 2 to"},
		{second(NewPotts(2, 2, 3, true, 1, nil)), "field values is 0, want 3 or 12"},
		{second(NewLogReg(rng, 3, 2, 1)), "prior is 1, want a number above 0 and below 1"},
		{second(NewModes(2, 5, 1, []float64{1})), "weights is 1, want 4"},
		{second(NewModes(1, 5, 1, []float64{math.NaN()})), "weight 0 is NaN, want a number above 0"},
		{second(NewModes(0, 5, 1, nil)), "modes a side is 0, want 1 to 1024"},
		{second(NewBernoulli(nil, false)), "log-odds is 0, want 1 to"},
		{second(NewBernoulli([]float64{0, math.Inf(-1)}, true)), "log-odds 1 is -Inf, want a finite number"},
		{second(NewGaussianBernoulli([]float64{1, 2, 2, 1}, []float64{0, 0})), ""},
		{second(NewGaussianBernoulli([]float64{1, .2, .3, 1}, []float64{0, 0})), ""},
	} {
		if !errors.Is(c.err, check.ErrShape) || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%v, want %q", c.err, c.says)
		}
	}
	if _, err := Enumerate(context.Background(), nil); !errors.Is(err, check.ErrShape) ||
		!strings.Contains(err.Error(), "no target") {
		t.Errorf("enumerating nothing: %v", err)
	}
	if _, err := Enumerate(context.Background(), must(NewIsing(5, 5, true, 1, []float64{0}, false))); !errors.Is(
		err, ErrTooLarge,
	) {
		t.Errorf("enumerating 2^25 states: %v", err)
	}
	if _, _, err := must(NewIsing(20, 20, true, 1, []float64{0}, false)).Exact(); !errors.Is(
		err, ErrTooLarge,
	) {
		t.Errorf("20 columns: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// BenchmarkIsingExact is the truth of periodic models of five columns. Its time grows as the rows.
func BenchmarkIsingExact(b *testing.B) {
	for _, rows := range []int{25, 50, 100} {
		t := must(NewIsing(rows, 5, true, 0.1, []float64{0.2}, false))
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			for range b.N {
				if _, _, err := t.Exact(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
