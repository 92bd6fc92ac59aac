package deepebm

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"infill/internal/testmode"
	"infill/lab/experiments/contrast"
	"infill/lab/experiments/images"
	"infill/lab/experiments/lab"
	"infill/lab/experiments/lab/labtest"
	"infill/lab/targets"
	"infill/samplers"
)

// small is a network of few units.
func small(n int) *net {
	rng := samplers.NewStream(1, "small", 0)
	base := make([]float64, n)
	for i := range base {
		base[i] = rng.NormFloat64()
	}
	m := newNet(n, 5, 4, base, rng)
	for i := range m.theta { // biases too
		m.theta[i] += 0.5 * rng.NormFloat64()
	}
	return m
}

// energy is U at pixels that need not be 0 or 1, by its definition.
func energy(m *net, x []float64) float64 {
	w1, b1, w2, b2, w3 := m.parts(m.theta)
	swish := func(t float64) float64 { return t / (1 + math.Exp(-t)) }
	u := 0.0
	for i, v := range x {
		u += m.base[i] * v
	}
	z := make([]float64, m.h1)
	for j := range z {
		a := b1[j]
		for i, v := range x {
			a += w1[j*m.n+i] * v
		}
		z[j] = swish(a)
	}
	for j, w := range w3 {
		a := b2[j]
		for i, v := range z {
			a += w2[j*m.h1+i] * v
		}
		u += w * swish(a)
	}
	return u
}

// TestGradients holds the energy against its definition, and both gradients against finite
// differences.
func TestGradients(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m := small(7)
	x := images.Random(samplers.NewStream(2, "states", 0), 4, m.n, 2)
	u, alone, grad := make([]float64, 4), make([]float64, 4), make([][]float64, 4)
	for k := range grad {
		grad[k] = make([]float64, m.n)
	}
	if err := m.EnergyGrad(ctx, x, u, grad); err != nil {
		t.Fatal(err)
	}
	if err := m.Energy(ctx, x, alone); err != nil {
		t.Fatal(err)
	}
	const h = 1e-5
	real := make([][]float64, len(x))
	for k, v := range x {
		for _, s := range v {
			real[k] = append(real[k], float64(s))
		}
		if want := energy(m, real[k]); math.Abs(u[k]-want) > 1e-12 || math.Abs(alone[k]-want) > 1e-12 {
			t.Errorf("state %d: energies %v and %v, want %v", k, u[k], alone[k], want)
		}
		for i := range v {
			at := real[k][i]
			real[k][i] = at + h
			up := energy(m, real[k])
			real[k][i] = at - h
			down := energy(m, real[k])
			real[k][i] = at
			if want := (up - down) / (2 * h); math.Abs(grad[k][i]-want) > 1e-8 {
				t.Errorf("state %d: gradient %v at pixel %d, want %v", k, grad[k][i], i, want)
			}
		}
	}
	got := make([]float64, len(m.theta))
	m.addGradient(x, -2, got)
	mean := func() (sum float64) {
		for _, v := range real {
			sum += energy(m, v) / float64(len(real))
		}
		return sum
	}
	for i, at := range m.theta {
		m.theta[i] = at + h
		up := mean()
		m.theta[i] = at - h
		down := mean()
		m.theta[i] = at
		if want := -2 * (up - down) / (2 * h); math.Abs(got[i]-want) > 1e-8 {
			t.Errorf("gradient %v in parameter %d, want %v", got[i], i, want)
		}
	}
}

// TestLearn: learning from draws of a network raises the exact log-likelihood, and the estimate
// of it agrees, both by enumeration of all states.
func TestLearn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const n = 9
	var data [][]int32 // bars: three equal pixels, three times, with noise of one in twenty
	rng := samplers.NewStream(3, "data", 0)
	for range 300 {
		v := make([]int32, n)
		for i := range v {
			if i%3 == 0 {
				v[i] = int32(rng.IntN(2))
			} else {
				v[i] = v[i-1]
			}
		}
		for i := range v {
			if rng.Float64() < 0.05 {
				v[i] = 1 - v[i]
			}
		}
		data = append(data, v)
	}
	set := &images.Set{Side: 3, Levels: 2, Train: data, Test: data[:50]}
	p := plan{h1: 8, h2: 6, iters: 250, batch: 100, steps: 5, rate: 0.01, chains: 200, rungs: 300,
		tuning: contrast.Tuning{Period: 62, Budget: 200}}
	likelihood := func(m *net) float64 {
		truth, err := targets.Enumerate(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range data {
			sum += math.Log(truth.P[truth.Index(v)]) / float64(len(data))
		}
		return sum
	}
	start := likelihood(p.newModel(set, 1))
	// DMALA's step of the paper is for 784 pixels. Of nine it hardly ever changes one. DULA is left
	// out: its law is not that of the model, and at a step that changes pixels learning diverges.
	for _, method := range methods {
		if method == "DULA" {
			continue
		}
		m := p.newModel(set, 1)
		neg, err := p.negative(ctx, method, m, 1)
		if method == "DMALA" {
			start := images.Random(samplers.NewStream(1, "buffer", 0), p.batch, n, 2)
			neg, err = contrast.Persistent(ctx, m, &samplers.DMALA{StepSize: 0.6}, start, p.steps,
				samplers.Options{Seed: 1})
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.learn(ctx, neg, m, data, 1); err != nil {
			t.Fatal(err)
		}
		l, err := p.judge(ctx, m, set, 1)
		if err != nil {
			t.Fatal(err)
		}
		exact := likelihood(m)
		if exact < start+0.8 {
			t.Errorf("%s: log-likelihood from %v to %v", method, start, exact)
		}
		if math.Abs(l.train-exact) > 4*l.z.Error {
			t.Errorf("%s: log-likelihood %v ± %v, exact %v", method, l.train, l.z.Error, exact)
		}
	}
}

// TestQuick makes the page of the quick case, in the long tests with another number of threads too.
func TestQuick(t *testing.T) {
	t.Parallel()
	threads := []int{2}
	if testmode.All() {
		threads = append(threads, 1)
	}
	labtest.Quick(t, Experiment, threads...)
}

// TestAcceptance: chains at equilibrium accept as often as the formula says in the mean over all
// states and all proposals, both enumerated.
func TestAcceptance(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const n, alpha, beta = 6, 0.7, 0.8
	m := small(n)
	truth, err := targets.Enumerate(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	states, u, grad := make([][]int32, len(truth.P)), make([]float64, len(truth.P)), [][]float64{}
	for s := range states {
		states[s] = make([]int32, n)
		truth.State(s, states[s])
		grad = append(grad, make([]float64, n))
	}
	if err := m.EnergyGrad(ctx, states, u, grad); err != nil {
		t.Fatal(err)
	}
	propose := func(from, to int) float64 {
		q := 1.0
		for i, v := range states[from] {
			odds := math.Exp(beta*grad[from][i]*float64(1-2*v) - 1/(2*alpha))
			if states[to][i] != v {
				q *= odds / (1 + odds)
			} else {
				q /= 1 + odds
			}
		}
		return q
	}
	want := 0.0
	for a, p := range truth.P {
		for b := range states {
			forward, back := propose(a, b), propose(b, a)
			want += p * forward * math.Min(1, math.Exp(u[b]-u[a])*back/forward)
		}
	}
	rng := samplers.NewStream(5, "draws", 0)
	var x [][]int32
	for range 400 {
		r, s := rng.Float64(), 0
		for ; s < len(truth.P)-1 && r > truth.P[s]; s++ {
			r -= truth.P[s]
		}
		x = append(x, append([]int32(nil), states[s]...))
	}
	got, err := acceptance(ctx, m, x, alpha, beta, 100, 1)
	if err != nil || math.Abs(got.Mean-want) > 4*got.SE || want > 0.95 || got.SE > 0.01 {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// The sentence about step sizes is of the numbers: a rise within two standard errors is none.
func TestVerdict(t *testing.T) {
	t.Parallel()
	falls := make([]lab.Spread, len(figureAlphas))
	for i := range falls {
		falls[i] = lab.Spread{Mean: 1 - .05*float64(i), SE: .04}
	}
	rises := slices.Clone(falls)
	rises[6].Mean = .98
	got := verdict([]figure{{10, [][]lab.Spread{falls, falls, falls, falls}},
		{20, [][]lab.Spread{falls, rises, falls, rises}}, {30, [][]lab.Spread{rises, rises, rises, rises}}})
	want := []string{"On the model of 10 iterations the rate only falls, which is not the paper's shape.",
		"with β = 0.65 from 0.750 at α = 0.75 to 0.980 at 1, β = 0.95 from 0.750 at α = 0.75 to 0.980 at 1. " +
			"It only falls with β = 0.5, β = 0.8.", "On the model of 30 iterations the rate rises again"}
	lines := strings.Split(got, "\n")
	for i, w := range want {
		if i >= len(lines) || !strings.Contains(lines[i], w) {
			t.Errorf("line %d of %q, want %q", i, got, w)
		}
	}
}
