package isinglearn

import (
	"context"
	"math"
	"slices"
	"testing"

	"infill/lab/experiments/images"
	"infill/lab/experiments/lab"
	"infill/lab/experiments/lab/labtest"
	"infill/samplers"
)

// energyOf is sᵀJs by its definition.
func energyOf(j []float64, x []int32) float64 {
	u := 0.0
	for a, v := range x {
		for b, w := range x {
			u += j[a*len(x)+b] * spin(v) * spin(w)
		}
	}
	return u
}

// randomModel has couplings of all pairs.
func randomModel(n int, sd float64) *model {
	m, rng := newModel(n), samplers.NewStream(3, "couplings", 0)
	for i := range n {
		for k := range i {
			v := sd * rng.NormFloat64()
			m.j[i*n+k], m.j[k*n+i] = v, v
		}
	}
	return m
}

// states are all of {0,1}^n.
func states(n int) [][]int32 {
	all := make([][]int32, 1<<n)
	for b := range all {
		all[b] = make([]int32, n)
		for i := range n {
			all[b][i] = int32(b >> i & 1)
		}
	}
	return all
}

// TestModel holds energies, gradients and conditionals against the definition of the energy, for
// numbers of spins that fill the tables and such that do not.
func TestModel(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, n := range []int{5, 8} {
		m := randomModel(n, 0.3)
		x := states(n)
		u, grad := make([]float64, len(x)), make([][]float64, len(x))
		for k := range grad {
			grad[k] = make([]float64, n)
		}
		if err := m.EnergyGrad(ctx, x, u, grad); err != nil {
			t.Fatal(err)
		}
		far, near := make([]float64, len(x)), make([][]float64, len(x))
		from := samplers.Origins{}
		for k := range x { // from a state that differs in many spins
			near[k] = make([]float64, n)
			o := (k + 3) * 5 % len(x)
			from.X, from.U, from.Grad = append(from.X, x[o]), append(from.U, u[o]),
				append(from.Grad, grad[o])
		}
		if err := m.ChainEnergy(ctx, from, x, far, near); err != nil {
			t.Fatal(err)
		}
		alone := make([]float64, len(x))
		if err := m.ChainEnergy(ctx, samplers.Origins{}, x, alone, nil); err != nil {
			t.Fatal(err)
		}
		for k, s := range x {
			want := energyOf(m.j, s)
			if math.Abs(u[k]-want) > 1e-12 || math.Abs(alone[k]-want) > 1e-12 {
				t.Fatalf("%v: energies %v and %v, want %v", s, u[k], alone[k], want)
			}
			if math.Abs(far[k]-want) > 1e-12 {
				t.Fatalf("%v: energy %v from %v, want %v", s, far[k], from.X[k], want)
			}
			for i := range n {
				// U is linear in a spin, as s² = 1, and the diagonal is 0: the difference is the gradient.
				y := append([]int32(nil), s...)
				y[i] = 1 - y[i]
				diff := (energyOf(m.j, y) - want) / float64(y[i]-s[i])
				if math.Abs(grad[k][i]-diff) > 1e-12 {
					t.Fatalf("%v: gradient %v at %d, want %v", s, grad[k][i], i, diff)
				}
				if math.Abs(near[k][i]-diff) > 1e-12 {
					t.Fatalf("%v: gradient %v at %d from %v, want %v", s, near[k][i], i, from.X[k], diff)
				}
				lp := [][]float64{make([]float64, 2)}
				if err := m.Conditional(ctx, x[k:k+1], []int{i}, lp); err != nil {
					t.Fatal(err)
				}
				if got := lp[0][1] - lp[0][0]; math.Abs(got-diff) > 1e-12 {
					t.Fatalf("%v: log odds %v at %d, want %v", s, got, i, diff)
				}
			}
		}
	}
}

// TestProduct holds Js against its definition for more spins than are tabled at a time.
func TestProduct(t *testing.T) {
	t.Parallel()
	for _, n := range []int{quad*quads + 1, 2*quad*quads + 7} {
		m := randomModel(n, 1)
		x := images.Random(samplers.NewStream(1, "states", 0), 5, n, 2)
		got := make([][]float64, len(x))
		for k := range got {
			got[k] = slices.Repeat([]float64{9}, n) // overwritten
		}
		m.product(x, got)
		for k, s := range x {
			for i := range n {
				want := 0.0
				for o, v := range s {
					want += m.j[i*n+o] * spin(v)
				}
				if math.Abs(got[k][i]-want) > 1e-12 || math.Abs(m.local(i, s)-want) > 1e-12 {
					t.Fatalf("%d spins: %v and %v at %d, want %v", n, got[k][i], m.local(i, s), i, want)
				}
			}
		}
	}
}

func TestMoments(t *testing.T) {
	t.Parallel()
	const n, rows = 7, 130 // more than two words of 64, and a part of one
	rng := samplers.NewStream(1, "states", 0)
	x := make([][]int32, rows)
	for k := range x {
		x[k] = make([]int32, n)
		for i := range x[k] {
			x[k][i] = int32(rng.IntN(i+2) / (i + 1)) // ones become rarer
		}
	}
	got := make([]float64, pairs(n))
	moments(x, got)
	at := 0
	for i := range n {
		for j := range i {
			want := 0.0
			for k := range x {
				want += spin(x[k][i]) * spin(x[k][j]) / rows
			}
			if math.Abs(got[at]-want) > 1e-12 {
				t.Errorf("moment %d, %d is %v, want %v", i, j, got[at], want)
			}
			at++
		}
	}
}

// TestPairs: J goes into its entries below the diagonal and back.
func TestPairs(t *testing.T) {
	t.Parallel()
	m := randomModel(6, 1)
	again := newModel(6)
	again.set(below(m.j, 6))
	if !slices.Equal(again.j, m.j) {
		t.Errorf("J is %v, want %v", again.j, m.j)
	}
}

// exactMoments are the moments of the pairs under the model with couplings j, by enumeration.
func exactMoments(j []float64, n int) []float64 {
	z, out := 0.0, make([]float64, n*n)
	for _, x := range states(n) {
		w := math.Exp(energyOf(j, x))
		z += w
		for a := range n {
			for b := range n {
				out[a*n+b] += w * spin(x[a]) * spin(x[b])
			}
		}
	}
	for i := range out {
		out[i] /= z
	}
	return below(out, n)
}

// TestData holds the moments of drawn data against enumeration.
func TestData(t *testing.T) {
	t.Parallel()
	task := task{side: 3, coupling: 0.1, rows: 20000, sweeps: 30}
	x, err := task.data(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := task.truth()
	if err != nil {
		t.Fatal(err)
	}
	got, want := make([]float64, pairs(9)), exactMoments(truth, 9)
	moments(x, got)
	for i := range got {
		if math.Abs(got[i]-want[i]) > 5/math.Sqrt(20000) {
			t.Errorf("moment %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// TestLearnsMaximumLikelihood: where learning ends, the exact gradient of the penalised
// log-likelihood vanishes, for every exact sampler. It is taken by enumeration.
func TestLearnsMaximumLikelihood(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	task := task{side: 3, coupling: 0.1, rows: 1000, sweeps: 30, buffer: 500, steps: 4,
		iters: 240, rate: 0.005, l1: 0.01, every: 100}
	x, err := task.data(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	of := make([]float64, pairs(9))
	moments(x, of)
	for i, s := range samplersOf() {
		if titles[i] == "DULA" {
			continue // its law is not that of the model
		}
		res, err := task.learn(ctx, s, x, lab.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		fitted := newModel(9)
		fitted.set(res.mean)
		model := exactMoments(fitted.j, 9)
		for k, m := range of {
			// The chains have a standard error of .05, and the mean is over 60 iterations that depend on
			// each other.
			if g := m - model[k] - 0.01*sign(res.mean[k]); math.Abs(g) > 0.05 {
				t.Errorf("%s: the gradient in J_%d is %v at %v", titles[i], k, g, res.mean[k])
			}
		}
	}
}

// TestQuick runs the quick case: every sampler brings J nearer to the truth, and the same seed
// gives the same page whatever the threads.
func TestQuick(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	task := plans(true).task
	n := float64(task.side * task.side)
	start := math.Log(task.coupling * math.Sqrt(4/n)) // four neighbours of n
	task.steps = 2
	data, err := task.data(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range samplersOf() {
		res, err := task.learn(ctx, s, data, lab.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if end := res.LogRMSE[len(res.LogRMSE)-1]; !(end < start-0.3) {
			t.Errorf("%s: log RMSE from %v to %v", titles[i], start, end)
		}
	}
	labtest.Quick(t, Experiment, 1, 2)
}
