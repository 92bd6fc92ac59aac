package verify

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"infill/lab/targets"
	"infill/samplers"
)

// TestQuadratic reads log-quadratic targets and compares with their own energies, gradients
// and known eigenvalues.
func TestQuadratic(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	field := []float64{.2, -.7, .1, 1.3, 0, .4}
	for name, c := range map[string]struct {
		t      samplers.Gradienter
		lambda float64 // of W; NaN where it is not known
	}{
		"spins":   {must(targets.NewIsing(2, 3, false, .3, field, true)), math.NaN()},
		"bits":    {must(targets.NewIsing(2, 3, false, .3, field, false)), math.NaN()},
		"4-cycle": {must(targets.NewIsing(2, 2, false, .1, []float64{.2}, true)), -.2},
		"4 bits":  {must(targets.NewIsing(2, 2, false, .1, []float64{.2}, false)), -.8},
		"minus":   {must(targets.NewIsing(2, 2, false, -.1, []float64{.2}, true)), -.2},
		"no edge": {must(targets.NewIsing(1, 1, false, .1, []float64{.2}, true)), 0},
		"one":     {energy1{a: -3, b: 1}, -3},
	} {
		q, err := quadraticOf(ctx, c.t)
		if err != nil {
			t.Fatal(err)
		}
		d := c.t.Domain()
		e := must(targets.Enumerate(ctx, c.t))
		x, u, g := [][]int32{make([]int32, d.Len())}, []float64{0}, [][]float64{make([]float64, d.Len())}
		own := make([]float64, d.Len())
		for s := range e.P {
			e.State(s, x[0])
			if err := c.t.EnergyGrad(ctx, x, u, g); err != nil {
				t.Fatal(err)
			}
			if got := q.energy(values(d, x[0]), own); math.Abs(got-u[0]) > 1e-12 {
				t.Errorf("%s: U(%v) = %g, want %g", name, x[0], got, u[0])
			}
			for i := range own {
				if math.Abs(own[i]-g[0][i]) > 1e-12 {
					t.Errorf("%s: ∇U(%v) = %g, want %g", name, x[0], own, g[0])
				}
			}
		}
		if got := q.smallest(); math.Abs(got-c.lambda) > 1e-9 {
			t.Errorf("%s: smallest eigenvalue %g, want %g", name, got, c.lambda)
		}
	}
}

// TestStationary compares the law of the transition matrix with that of theorem 5.1 in closed
// form, and on one spin with the closed form of two states.
func TestStationary(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m := must(targets.NewIsing(2, 2, false, .1, []float64{.2}, false))
	e := must(targets.Enumerate(ctx, m))
	for alpha, second := range map[float64]float64{.1: 5.33959e-3, .2: 5.91734e-2, .4: .1647512,
		1: .2621702} {
		law := must(dulaLaw(ctx, m, e, alpha))
		sum := 0.0
		for _, p := range law {
			sum += p
		}
		q := must(transition(ctx, m, e, alpha))
		for s, row := range q {
			total := 0.0
			for _, p := range row {
				total += p
			}
			if math.Abs(total-1) > 1e-14 {
				t.Errorf("α = %g: row %d sums to %g", alpha, s, total)
			}
		}
		for s, p := range stationary(q) {
			if math.Abs(p*sum/law[s]-1) > 1e-12 {
				t.Errorf("α = %g: state %d has %g, want %g", alpha, s, p, law[s]/sum)
			}
		}
		if got := must(bias(ctx, m, e, alpha)); math.Abs(got/second-1) > 2e-6 {
			t.Errorf("α = %g: L1 %g, want %g", alpha, got, second)
		}
	}
	for _, c := range []struct{ a, b, eps, alpha float64 }{{1, .1, 0, .4}, {1, .1, .3, 1},
		{-.5, .7, .2, 2}} {
		one := energy1{c.a, c.b, c.eps}
		k := math.Exp(-2*c.a - 2/c.alpha)
		plus := (math.Exp(c.b) + k) / (2*math.Cosh(c.b) + 2*k)
		want := 2 * math.Abs(plus-1/(1+math.Exp(-2*c.b-4*c.eps)))
		got := must(bias(ctx, one, must(targets.Enumerate(ctx, one)), c.alpha))
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%+v: L1 %g, want %g", c, got, want)
		}
	}
}

// TestBiasDrawn runs the sampler itself on the density with a sine.
func TestBiasDrawn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	one := energy1{1, .1, .3}
	const chains, alpha = 5000, 2
	law := stationary(must(transition(ctx, one, must(targets.Enumerate(ctx, one)), alpha)))
	run := must(samplers.Start(ctx, &samplers.DULA{StepSize: alpha}, one,
		starts(one.Domain(), chains, 1), samplers.Options{Seed: 1}))
	if err := run.Steps(ctx, 120, nil); err != nil { // forgets a start by a twelfth a step
		t.Fatal(err)
	}
	up := 0.0
	for _, x := range run.X {
		up += float64(x[0]) / chains
	}
	if se := math.Sqrt(law[1] * law[0] / chains); math.Abs(up-law[1]) > 5*se {
		t.Errorf("P(1) = %.4f, want %.4f ± %.4f", up, law[1], se)
	}
}

// TestBounds: the paper's bound holds where section 9 says so and fails where it says so. The
// derived one holds on random targets of both domains.
func TestBounds(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, alpha := range []float64{.1, .3, 1} {
		for _, spins := range []bool{false, true} {
			m := must(targets.NewIsing(2, 2, false, .1, []float64{.2}, spins))
			if b := must(biasBound(ctx, m, alpha)); !(b.bias <= b.paper && b.bias <= b.derived) {
				t.Errorf("2×2 Ising, spins %v, α = %g: %+v", spins, alpha, b)
			}
		}
	}
	b := must(biasBound(ctx, energy1{a: -3, b: 1}, .3))
	k, c := math.Exp(6-2/.3), math.Cosh(1)
	if math.Abs(b.bias-k*math.Tanh(1)/(c+k)) > 1e-12 ||
		math.Abs(b.paper-2*c*math.Exp(-1.5-1/.6)) > 1e-12 || b.bias < b.paper || b.bias > b.derived+1e-13 {
		t.Errorf("U = −3θ² + θ, α = .3: %+v", b)
	}
	rng := rand.New(rand.NewPCG(1, 9))
	checked := 0
	for range 200 {
		field := make([]float64, 6)
		for i := range field {
			field[i] = 2 * rng.NormFloat64()
		}
		m := must(targets.NewIsing(2, 3, false, rng.NormFloat64(), field, rng.IntN(2) == 0))
		alpha := math.Exp(rng.NormFloat64() - 1)
		b := must(biasBound(ctx, m, alpha))
		if math.IsNaN(b.derived) {
			continue
		}
		if checked++; b.bias > b.derived+1e-13 {
			t.Errorf("%v, α = %g: %+v", m, alpha, b)
		}
	}
	if checked < 50 {
		t.Errorf("only %d targets had a bound", checked)
	}
}
