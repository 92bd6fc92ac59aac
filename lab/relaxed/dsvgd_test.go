package relaxed

import (
	"context"
	"math"
	"testing"

	"infill/samplers"
)

// particles and what the public code of Grathwohl and others (2021) makes of them, class SVGD with
// discrete_phi and discrete_step in PyTorch, float64: φ at temperature .8, and the places after three steps of
// Adam with a rate of .05.
var (
	particles = [][]float64{{.3, -1.2, .7}, {-.4, .9, 1.5}, {2.1, .2, -.6}, {-.1, -.5, .05},
		{1.1, 1.3, -1.7}}
	publicPhi = [][]float64{
		{-0.13619019338869073, 0.263374658452464, -0.1753159385480831},
		{0.10505027847651882, -0.013363934018717799, -0.22546079097117358},
		{-0.43991943660345706, -0.04122491439229288, 0.2805074745399603},
		{-0.21882078378266634, 0.2548906768585182, -0.25802108474868635},
		{-0.309025437578864, -0.12196497277726415, 0.25820713063737044},
	}
	publicSteps = [][]float64{
		{0.1507358255714127, -1.0503925704756871, 0.5502909847511186},
		{-0.2501462390905471, 0.7744652171650559, 1.3503137330344328},
		{1.9501166305457445, 0.059648706033532194, -0.45034824429950565},
		{-0.24967411278411966, -0.35031478688832984, -0.0999705073856142},
		{0.9505750778719152, 1.1502575585843284, -1.5502290623785762},
	}
)

// begun is a kernel whose particles are in given places.
func begun(t *testing.T, s *DSVGD, m samplers.Target, z [][]float64) *dsvgdKernel {
	t.Helper()
	ctx := context.Background()
	c := attach(t, m, states(len(z)))
	kern, err := s.Attach(c)
	if err != nil {
		t.Fatal(err)
	}
	k := kern.(*dsvgdKernel)
	for i := range z {
		copy(k.z[i], z[i])
		k.state(z[i], c.X[i])
		k.rho[i] = k.surrogate(z[i], k.score[i])
	}
	if err := m.Energy(ctx, c.X, c.U); err != nil {
		t.Fatal(err)
	}
	return k
}

// TestDSVGDPublic compares φ and three steps with the public code.
func TestDSVGDPublic(t *testing.T) {
	t.Parallel()
	m, ext := path(t, false)
	k := begun(t, &DSVGD{Rate: .05, Temperature: .8, Extension: ext}, m, particles)
	for step := range 3 {
		if err := k.Step(context.Background()); err != nil {
			t.Fatal(err)
		}
		for i := range k.phi {
			for j, v := range k.phi[i] {
				if step == 0 && math.Abs(v-publicPhi[i][j]) > 1e-7 {
					t.Errorf("φ of particle %d is %v, want %v", i, k.phi[i], publicPhi[i])
					break
				}
			}
		}
	}
	for i := range k.z {
		for j, v := range k.z[i] {
			if math.Abs(v-publicSteps[i][j]) > 1e-6 {
				t.Errorf("after 3 steps particle %d is at %v, want %v", i, k.z[i], publicSteps[i])
				break
			}
		}
	}
}

// TestDSVGDStein: where the particles are the law p itself, φ is 0 (Stein's identity). The law is a
// fine grid on one axis, with the weights p·ρ/p = ρ.
func TestDSVGDStein(t *testing.T) {
	t.Parallel()
	const n, width = 801, 8.0
	z, score := make([][]float64, n), make([][]float64, n)
	w, phi := make([]float64, n), make([][]float64, n)
	sum, largest := 0.0, 0.0
	for i := range z {
		x := width * (2*float64(i)/(n-1) - 1)
		p := 1 / (1 + math.Exp(-x/.7)) // U = 3θ − 1 at temperature .7
		z[i], phi[i] = []float64{x}, []float64{0}
		score[i] = []float64{3*p*(1-p)/.7 - x}
		w[i] = math.Exp(-x*x/2 + 3*p - 1)
		sum += w[i]
	}
	for i := range w {
		w[i] /= sum
		largest = math.Max(largest, math.Abs(w[i]*score[i][0]))
	}
	direction(z, score, w, distances(z, nil), .5, phi)
	for i, v := range phi {
		if math.Abs(v[0]) > 1e-9 {
			t.Fatalf("φ(%g) = %g, want 0", z[i][0], v[0])
		}
	}
	if largest < 1e-4 {
		t.Errorf("the terms are at most %g: nothing was added up", largest)
	}
}

// TestDSVGDOne: one particle feels no other and climbs log ρ, to where its gradient is 0.
func TestDSVGDOne(t *testing.T) {
	t.Parallel()
	m, ext := path(t, false)
	k := begun(t, &DSVGD{Rate: .05, Temperature: 2, Extension: ext}, m, [][]float64{{.1, -.2, .3}})
	for range 4000 {
		if err := k.Step(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	// The fixed point of z = ∇U(Γ̃(z))·Γ̃'(z), by iteration from elsewhere.
	z, g := []float64{1, 1, 1}, make([]float64, 3)
	for range 500 {
		theta := make([]float64, 3)
		for i, v := range z {
			theta[i] = 1 / (1 + math.Exp(-v/2))
		}
		ext(theta, g)
		for i, p := range theta {
			z[i] = g[i] * p * (1 - p) / 2
		}
	}
	for i := range z {
		if math.Abs(z[i]-k.z[0][i]) > 1e-4 {
			t.Errorf("the particle is at %v, want %v", k.z[0], z)
			break
		}
	}
}

// TestDSVGDWeights: states of probability 0 have no weight.
func TestDSVGDWeights(t *testing.T) {
	t.Parallel()
	w := make([]float64, 3)
	weights([]float64{1, 2, 2}, []float64{1, math.Inf(-1), 2}, w)
	if w[0] != .5 || w[1] != 0 || w[2] != .5 {
		t.Errorf("weights %v, want ½, 0, ½", w)
	}
}
