package targets_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"infill/internal/testmode"
	"infill/lab/internal/domain"
	"infill/lab/targets"
	"infill/samplers"
)

// The short figures of the literature; the long ones are made by
// lab/verify and recorded in lab/notebook/verification.md.

// TestIsing5x5 is DLP's Ising model: exact answers, and DMALA's number of
// proposed flips and acceptance.
func TestIsing5x5(t *testing.T) {
	t.Parallel()
	m := must(targets.NewIsing(5, 5, true, 0.1, []float64{0.2}, false))
	logZ, mean, err := m.Exact()
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(logZ-19.67408576) > 1e-8 {
		t.Errorf("log Z = %.8f, want 19.67408576", logZ)
	}
	for i, v := range mean {
		if math.Abs(v-0.48296984) > 1e-8 {
			t.Errorf("E[s_%d] = %.8f, want 0.48296984", i, v)
		}
	}
	for _, c := range []struct{ alpha, flips, acceptance float64 }{{0.6, 6.03, 0.539}, {0.4, math.NaN(), 0.688}} {
		x0 := make([][]int32, 20)
		for k := range x0 {
			x0[k] = make([]int32, 25)
		}
		run, err := samplers.Start(
			context.Background(), &samplers.DMALA{StepSize: c.alpha}, m, x0, samplers.Options{Seed: 1},
		)
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Steps(context.Background(), 100, nil); err != nil {
			t.Fatal(err)
		}
		run.ResetStats()
		sum := 0.0
		const n = 1000
		err = run.Steps(context.Background(), n, func(r *samplers.Run) error {
			for _, x := range r.X {
				for _, v := range x {
					sum += float64(2*v - 1)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var st samplers.Stats
		for _, s := range run.Stats {
			st.Add(s)
		}
		// 20000 correlated steps: standard errors near 0.03 flips and 0.004.
		if d := math.Abs(st.ProposedDistance() - c.flips); d > 0.15 {
			t.Errorf("α = %g: %.3f flips proposed, want %g", c.alpha, st.ProposedDistance(), c.flips)
		}
		if math.Abs(st.MeanProb()-c.acceptance) > 0.015 {
			t.Errorf("α = %g: acceptance %.4f, want %g", c.alpha, st.MeanProb(), c.acceptance)
		}
		if got := sum / (20 * n * 25); math.Abs(got-0.48297) > 0.012 {
			t.Errorf("α = %g: E[s] = %.4f, want 0.4830", c.alpha, got)
		}
	}
}

// dulaLaw is theorem 5.1 of DLP in closed form for a log-quadratic U: DULA's
// stationary law is π_α(θ) ∝ π(θ) Π_i (1 + exp(l_i(θ))), l_i the flip logits.
func dulaLaw(t testing.TB, target samplers.Gradienter, e *targets.Exact, alpha float64) []float64 {
	t.Helper()
	d := target.Domain()
	out := make([]float64, len(e.P))
	x := [][]int32{make([]int32, d.Len())}
	u, g := make([]float64, 1), [][]float64{make([]float64, d.GradLen())}
	for s, p := range e.P {
		e.State(s, x[0])
		if err := target.EnergyGrad(context.Background(), x, u, g); err != nil {
			t.Fatal(err)
		}
		out[s] = p
		for i, v := range x[0] {
			out[s] *= 1 + math.Exp(-g[0][i]*float64(2*v-1)/2-1/(2*alpha))
		}
	}
	return out
}

// TestDULAStationaryLaw compares the law of theorem 5.1 with second-hand
// distances to π, and DULA's own draws with that law.
func TestDULAStationaryLaw(t *testing.T) {
	t.Parallel()
	m := must(targets.NewIsing(2, 2, false, 0.1, []float64{0.2}, false))
	e := must(targets.Enumerate(context.Background(), m))
	for _, c := range []struct{ alpha, l1 float64 }{{0.1, 5.33959e-3}, {0.2, 5.91734e-2}, {0.4, 0.1647512}, {1, 0.2621702}} {
		law := dulaLaw(t, m, e, c.alpha)
		if got := 2 * e.TV(law); math.Abs(got/c.l1-1) > 2e-6 {
			t.Errorf("α = %g: L1(π_α, π) = %.7g, want %.7g", c.alpha, got, c.l1)
		}
	}
	// Independent chains from a start each, run long enough to forget it:
	// final states are draws of π_α. E[TV] ≤ ½ Σ √(p/n); exceeding it by ε has
	// probability at most exp(−2nε²).
	const n = 20000
	const alpha = 0.4
	law := &targets.Exact{Domain: m.Domain(), P: dulaLaw(t, m, e, alpha)}
	z := 0.0
	for _, p := range law.P {
		z += p
	}
	limit := math.Sqrt(math.Log(1e6) / (2 * n))
	for s := range law.P {
		law.P[s] /= z
		limit += math.Sqrt(law.P[s]/n) / 2
	}
	x0 := make([][]int32, n)
	for k := range x0 {
		x0[k] = make([]int32, 4)
	}
	run, err := samplers.Start(
		context.Background(), &samplers.DULA{StepSize: alpha}, m, x0, samplers.Options{Seed: 2},
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Steps(context.Background(), 60, nil); err != nil {
		t.Fatal(err)
	}
	count := make([]float64, len(law.P))
	for _, x := range run.X {
		count[law.Index(x)]++
	}
	if tv := law.TV(count); tv > limit {
		t.Errorf("DULA is %.4f from its stationary law, limit %.4f", tv, limit)
	}
	if tv := e.TV(count); tv < limit {
		t.Errorf("DULA is %.4f from π: the comparison could not tell it from an exact sampler", tv)
	}
}

// quadratic is U = Σ_i a_i θ_i² on {±1}^d: constant, but with a gradient.
type quadratic struct {
	a   []float64
	dom *samplers.Domain
}

func (q quadratic) Domain() *samplers.Domain { return q.dom }
func (q quadratic) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k := range x {
		u[k] = 0
		for _, a := range q.a {
			u[k] += a
		}
	}
	return nil
}
func (q quadratic) EnergyGrad(ctx context.Context, x [][]int32, u []float64, g [][]float64) error {
	for k := range x {
		for i, a := range q.a {
			g[k][i] = 2 * a * float64(2*x[k][i]-1)
		}
	}
	return q.Energy(ctx, x, u)
}

// TestPreconditioning is DLP's ill-conditioned target: the preconditioner makes
// both coordinates flip with probability one half.
func TestPreconditioning(t *testing.T) {
	t.Parallel()
	q := quadratic{[]float64{-0.001, -1000}, domain.Spins(2)}
	const n = 125000
	for _, s := range []samplers.Sampler{
		&samplers.DMALA{StepSize: 1, Precondition: []float64{1000, 0.001}},
		&samplers.DULA{StepSize: 1, Precondition: []float64{1000, 0.001}},
	} {
		run, err := samplers.Start(
			context.Background(), s, q, [][]int32{{0, 0}}, samplers.Options{Seed: 1},
		)
		if err != nil {
			t.Fatal(err)
		}
		sum := [2]float64{}
		flips := [2]float64{}
		last := []int32{0, 0}
		err = run.Steps(context.Background(), n, func(r *samplers.Run) error {
			for i, v := range r.X[0] {
				sum[i] += float64(2*v - 1)
				if v != last[i] {
					flips[i]++
				}
				last[i] = v
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range sum {
			// Independent fair coins: standard errors 1/(2√n) and 1/√n.
			if p := flips[i] / n; math.Abs(p-0.5) > 5/(2*math.Sqrt(n)) {
				t.Errorf("%s: coordinate %d flips with probability %.4f, want 0.5", s.Info().Name, i, p)
			}
			if mean := sum[i] / n; math.Abs(mean) > 5/math.Sqrt(n) {
				t.Errorf("%s: mean of coordinate %d is %.5f, want 0 ± %.5f", s.Info().Name, i, mean, 1/math.Sqrt(n))
			}
		}
	}
}

// TestSGDLDGaussianBernoulli: the exact numbers of the target, and the errors that
// were handed to us as SGDLD's there (section 4 of lab/notebook/verification.md), which
// fall with the jump probability with the cache and stay without.
func TestSGDLDGaussianBernoulli(t *testing.T) {
	t.Parallel()
	g := gaussBern()
	e := must(targets.Enumerate(context.Background(), g))
	if math.Abs(math.Exp(e.LogZ)-7.986209) > 1e-6 {
		t.Errorf("Z = %.6f, want 7.986209", math.Exp(e.LogZ))
	}
	x := make([]int32, 4)
	for s, p := range e.P {
		e.State(s, x)
		ones := 0
		for _, v := range x {
			ones += int(v)
		}
		if want := []float64{.125216, .059148, .046064, .059148, .125216}[ones]; math.Abs(p-want) > 1e-6 {
			t.Errorf("π(%v) = %.6f, want %.6f", x, p, want)
		}
	}
	// 200 chains of 2000 steps, and in the long run 5 times as many: the noise of
	// 16 frequencies is near .004 and .002 at h = .6, and .008 and .004 at h = .1.
	chains := 200
	if testmode.All() {
		chains = 1000
	}
	for _, c := range []struct {
		s           samplers.SGDLD
		known, room float64
	}{
		{samplers.SGDLD{Jump: 0.6}, .061, .008},
		{samplers.SGDLD{Jump: 0.6, NoCache: true}, .080, .008},
		{samplers.SGDLD{Jump: 0.1}, .018, .012},
		{samplers.SGDLD{Jump: 0.1, NoCache: true}, .079, .015},
	} {
		if tv := sgdldError(t, g, e, &c.s, chains, 2000); math.Abs(tv-c.known) > c.room {
			t.Errorf("%+v: total variation %.4f, want near %g", c.s, tv, c.known)
		}
	}
	// Large mini-batches leave little noise, and so little bias.
	if tv := sgdldError(t, g, e, &samplers.SGDLD{Jump: 0.6, Batch: 30}, 100, 1000); tv > 0.025 {
		t.Errorf("total variation %.4f with batches of 30, want near the Monte Carlo error", tv)
	}
	// The other estimator is asymptotically exact, too, at small jumps with the cache.
	g.Estimator = targets.Conditional
	cached := sgdldError(t, g, e, &samplers.SGDLD{Jump: 0.1, Balance: samplers.Ratio}, 200, 2000)
	bare := sgdldError(
		t, g, e, &samplers.SGDLD{Jump: 0.1, Balance: samplers.Ratio, NoCache: true}, 200, 2000,
	)
	if !(cached < 0.03 && bare > 0.06 && bare < 0.095) {
		t.Errorf(
			"conditional draws of u: total variation %.4f with the cache, %.4f without", cached, bare,
		)
	}
}

func gaussBern() *targets.GaussianBernoulli {
	w := make([]float64, 16)
	for i := range w {
		w[i] = 0.5
		if i%5 == 0 {
			w[i] = 1
		}
	}
	return must(targets.NewGaussianBernoulli(w, []float64{-1.25, -1.25, -1.25, -1.25}))
}

// sgdldError is the total variation between π and the weighted states.
func sgdldError(
	t testing.TB, g samplers.Target, e *targets.Exact, s samplers.Sampler, chains, steps int,
) float64 {
	t.Helper()
	x0 := make([][]int32, chains)
	for k := range x0 {
		x0[k] = make([]int32, g.Domain().Len())
	}
	run, err := samplers.Start(context.Background(), s, g, x0, samplers.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	sum := make([]float64, len(e.P))
	err = run.Steps(context.Background(), steps, func(r *samplers.Run) error {
		if r.Done() < steps/10 {
			return nil
		}
		for k, x := range r.X {
			sum[e.Index(x)] += math.Exp(r.LogWeight[k]) // targets so small that it is a number
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return e.TV(sum)
}

// TestStochasticDULA: with mini-batches as large as the variance allows, the
// stochastic sampler draws from nearly the law of the one with full gradients,
// and it uses a new mini-batch at every step, also when the state stays.
func TestStochasticDULA(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 1))
	l := must(targets.NewLogReg(rng, 40, 4, 0.3))
	last := func(s samplers.Sampler) [][]int32 {
		x0 := make([][]int32, 4000)
		for k := range x0 {
			x0[k] = make([]int32, 4)
		}
		run, err := samplers.Start(context.Background(), s, l, x0, samplers.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Steps(context.Background(), 60, nil); err != nil {
			t.Fatal(err)
		}
		return run.X
	}
	e := must(targets.Enumerate(context.Background(), l))
	count := func(x [][]int32) []float64 {
		out := make([]float64, len(e.P))
		for _, s := range x {
			out[e.Index(s)]++
		}
		return out
	}
	full := count(last(&samplers.DULA{StepSize: 0.3}))
	stoch := count(last(&samplers.DULA{StepSize: 0.3, Batch: 40}))
	tiny := count(last(&samplers.DULA{StepSize: 0.3, Batch: 1}))
	dist := func(a, b []float64) (tv float64) {
		for i := range a {
			tv += math.Abs(a[i]-b[i]) / (2 * 4000)
		}
		return tv
	}
	if near, far := dist(full, stoch), dist(full, tiny); near > 0.15 || far < 2*near {
		t.Errorf(
			"total variation to DULA: %.3f with batches of 40, %.3f with 1; want near 0 and clearly more",
			near, far,
		)
	}
}
