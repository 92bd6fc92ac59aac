package relaxed

import (
	"context"
	"math"
	"testing"

	"infill/lab/targets"
	"infill/samplers"
)

// TestRMALABalance: the acceptance probability is min(1, p(z')q(z'→z)/(p(z)q(z→z'))), with
// densities written out here and gradients by finite differences.
func TestRMALABalance(t *testing.T) {
	t.Parallel()
	const step, temp = .3, .8
	m, ext := path(t, false)
	other := []float64{.9, .1, -.4} // two signs differ
	grad := func(z []float64) []float64 {
		g := make([]float64, 3)
		for i := range z {
			const e = 1e-5
			a, b := append([]float64(nil), z...), append([]float64(nil), z...)
			a[i] += e
			b[i] -= e
			g[i] = (logRho(a, ext, temp, 0, 1) - logRho(b, ext, temp, 0, 1)) / (2 * e)
		}
		return g
	}
	logP := func(z []float64) float64 {
		theta := make([]float64, 3)
		for i, v := range z {
			if v > 0 {
				theta[i] = 1
			}
		}
		return half(z) + ext(theta, make([]float64, 3))
	}
	logQ := func(from, to []float64) float64 {
		sum := 0.0
		for i, g := range grad(from) {
			e := to[i] - from[i] - step*g
			sum -= e*e/(4*step) + math.Log(4*math.Pi*step)/2
		}
		return sum
	}
	want := math.Min(1, math.Exp(logP(point)+logQ(point, other)-logP(other)-logQ(other, point)))
	c := attach(t, m, [][]int32{{1, 1, 0}})
	kern, err := (&RMALA{StepSize: step, Temperature: temp, Extension: ext}).Attach(c)
	if err != nil {
		t.Fatal(err)
	}
	r := kern.(*rmalaKernel)
	copy(r.z[0], other)
	copy(r.next[0], point)
	r.surrogate(r.z[0], r.grad[0])
	r.surrogate(r.next[0], r.nextGrad[0])
	copy(r.y[0], c.X[0])
	r.changed[0] = r.state(point, r.y[0])
	u := []float64{0}
	if err := m.Energy(context.Background(), r.y, u); err != nil {
		t.Fatal(err)
	}
	r.decide(0, u[0])
	if got := c.Last[0]; math.Abs(got.Prob-want) > 1e-8 || got.Flips != 2 || want > .9 {
		t.Errorf("acceptance %+v, want %g with 2 flips", got, want)
	}
}

// shown is RMALA that shows its kernel.
type shown struct {
	RMALA
	kernel *rmalaKernel
}

func (s *shown) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	k, err := s.RMALA.Attach(c)
	s.kernel, _ = k.(*rmalaKernel)
	return k, err
}

// TestRMALAExact: from one state all chains come to π, and |z| keeps the law of normal numbers.
func TestRMALAExact(t *testing.T) {
	t.Parallel()
	m, ext := path(t, false)
	e, err := targets.Enumerate(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	const n = 8000
	s := &shown{RMALA: RMALA{StepSize: .4, Temperature: .5, Extension: ext}}
	run, err := samplers.Start(context.Background(), s, m, states(n), samplers.Options{Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	length := func() (sum float64) {
		for _, z := range s.kernel.z {
			for _, v := range z {
				sum += v * v / (3 * n)
			}
		}
		return sum
	}
	// Begun as normal numbers with the signs of the states, and kept as such.
	se := math.Sqrt(2.0 / (3 * n))
	if start := length(); math.Abs(start-1) > 5*se {
		t.Errorf("E[z²] = %.4f at the start, want 1 ± %.4f", start, se)
	}
	if err := run.Steps(context.Background(), 60, nil); err != nil {
		t.Fatal(err)
	}
	count, u := make([]float64, len(e.P)), make([]float64, n)
	for _, x := range run.X {
		count[e.Index(x)]++
	}
	// E[TV] ≤ ½ Σ √(p/n), and more by ε has probability at most exp(−2nε²).
	limit := math.Sqrt(math.Log(1e6) / (2 * n))
	for _, p := range e.P {
		limit += math.Sqrt(p/n) / 2
	}
	if tv := e.TV(count); tv > limit {
		t.Errorf("total variation %.4f, limit %.4f", tv, limit)
	}
	if end := length(); math.Abs(end-1) > 5*se {
		t.Errorf("E[z²] = %.4f, want 1 ± %.4f", end, se)
	}
	if err := m.Energy(context.Background(), run.X, u); err != nil {
		t.Fatal(err)
	}
	for k, v := range u {
		if math.Abs(v-run.U[k]) > 1e-12 {
			t.Fatalf("chain %d: U is kept as %g, and is %g", k, run.U[k], v)
		}
	}
	st := run.Stats[0]
	if st.Evals < 61 || st.Evals > 121 || st.Moved < st.Accepted || st.Accepted == 0 {
		t.Errorf("%+v", st)
	}
}
