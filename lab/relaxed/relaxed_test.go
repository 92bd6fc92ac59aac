package relaxed

import (
	"context"
	"errors"
	"math"
	"testing"

	"infill/lab/internal/kernels"
	"infill/lab/targets"
	"infill/samplers"
)

// spins is U = a Σ_edges 2 s_i s_j + Σ b_i s_i on a path of three sites, and its extension, written
// out.
const coupling = .4

var field = []float64{.3, -.2, .5}

func path(t *testing.T, spins bool) (*targets.Ising, Extension) {
	t.Helper()
	m, err := targets.NewIsing(1, 3, false, coupling, field, spins)
	if err != nil {
		t.Fatal(err)
	}
	return m, func(theta, grad []float64) float64 {
		s, scale := append([]float64(nil), theta...), 1.0
		if !spins {
			scale = 2
			for i, v := range theta {
				s[i] = 2*v - 1
			}
		}
		near := []float64{s[1], s[0] + s[2], s[1]}
		u := 0.0
		for i, v := range s {
			u += v * (coupling*near[i] + field[i])
			grad[i] = scale * (2*coupling*near[i] + field[i])
		}
		return u
	}
}

// attach makes chains at given states without a run.
func attach(t *testing.T, m samplers.Target, x [][]int32) *samplers.Chains {
	t.Helper()
	run, err := samplers.Start(context.Background(), &kernels.RWM{}, m, x, samplers.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return run.Chains
}

func states(n int) [][]int32 {
	x := make([][]int32, n)
	for k := range x {
		x[k] = []int32{0, 1, 0}
	}
	return x
}

// logRho is log ρ up to a constant, written apart from the code under test.
func logRho(z []float64, ext Extension, t, low, high float64) float64 {
	theta, u := make([]float64, len(z)), 0.0
	for i, v := range z {
		theta[i] = low + (high-low)*(1+math.Tanh(v/t/2))/2
		u -= v * v / 2
	}
	return u + ext(theta, make([]float64, len(z)))
}

var point = []float64{.3, -1.2, .7}

// TestSurrogate compares ∇ log ρ with finite differences on both domains.
func TestSurrogate(t *testing.T) {
	t.Parallel()
	for _, spins := range []bool{false, true} {
		m, ext := path(t, spins)
		low := 0.0
		if spins {
			low = -1
		}
		s, err := newSpace(attach(t, m, states(1)), "test", ext, .8)
		if err != nil {
			t.Fatal(err)
		}
		g := make([]float64, 3)
		if u, want := s.surrogate(point, g)+half(point), logRho(point, ext, .8, low, 1); math.Abs(
			u-want) > 1e-12 {
			t.Errorf("spins %v: log ρ = %g, want %g", spins, u, want)
		}
		for i := range point {
			const e = 1e-5
			a, b := append([]float64(nil), point...), append([]float64(nil), point...)
			a[i] += e
			b[i] -= e
			want := (logRho(a, ext, .8, low, 1) - logRho(b, ext, .8, low, 1)) / (2 * e)
			if math.Abs(g[i]-want) > 1e-8 {
				t.Errorf("spins %v: ∂ log ρ/∂z_%d = %g, want %g", spins, i, g[i], want)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	m, ext := path(t, false)
	three, err := targets.NewCategorical([][]float64{{0, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		s    samplers.Sampler
		m    samplers.Target
		want error
	}{
		{&RMALA{StepSize: .1, Extension: ext}, m, samplers.ErrParam},
		{&RMALA{Temperature: 1, Extension: ext}, m, samplers.ErrParam},
		{&RMALA{StepSize: math.NaN(), Temperature: 1, Extension: ext}, m, samplers.ErrParam},
		{&RMALA{StepSize: 1, Temperature: 1}, m, samplers.ErrUnsupported},
		{&RMALA{StepSize: 1, Temperature: 1, Extension: ext}, three, samplers.ErrUnsupported},
		{&DSVGD{Temperature: 1, Extension: ext}, m, samplers.ErrParam},
		{&DSVGD{Rate: 1, Temperature: math.Inf(1), Extension: ext}, m, samplers.ErrParam},
		{&DSVGD{Rate: 1, Temperature: 1}, m, samplers.ErrUnsupported},
	} {
		x := make([]int32, c.m.Domain().Len())
		if _, err := samplers.Start(context.Background(), c.s, c.m, [][]int32{x},
			samplers.Options{}); !errors.Is(err, c.want) {
			t.Errorf("case %d: %v, want %v", i, err, c.want)
		}
	}
}
