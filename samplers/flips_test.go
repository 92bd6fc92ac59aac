package samplers

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The flips of many coordinates are worked out another way than a single one;
// both are the same function.
func TestFlipsOfDLMC(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for _, g := range []Balance{Sqrt, Ratio, Max, Min} {
		f := &flow{g: g, scales: scales{now: make([]float64, 1)}}
		exact, euler := dlmcRule{f}, eulerRule{f}
		for range 20000 {
			f.now[0] = 20 * (rng.Float64() - 0.7)
			d := 100 * (rng.Float64() - 0.5) * rng.Float64()
			if rng.IntN(4) == 0 {
				d *= 3 // beyond easyDelta
			}
			for name, pair := range map[string][2]float64{
				"dlmc":  {one(exact, d), exact.flip(f.now[0], d)},
				"euler": {one(euler, d), euler.flip(f.now[0], d)},
			} {
				// Where P(stay) = 1 − hQ is small, so are its correct digits.
				if got, want := pair[0], pair[1]; math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
					t.Fatalf(
						"%s, %v, log h = %g: the flip of Δ = %g has logit %.15g, alone %.15g", name, g, f.now[0], d,
						got, want,
					)
				}
			}
		}
		f.now[0] = 0
		for _, r := range []rule{exact, euler} {
			if l := one(r, math.NaN()); l == l {
				t.Errorf("%v: Δ = NaN gives the logit %g", g, l)
			}
		}
	}
}

func one(r rule, d float64) float64 {
	x := []float64{d}
	r.flips(0, 0, x)
	return x[0]
}

// TestFarFlipOfDLMC: h Q/ν and ν beyond what a float64 holds. The flip of Δ = −3600 has a rate of
// exp(−1800), and staying is sure.
func TestFarFlipOfDLMC(t *testing.T) {
	t.Parallel()
	f := &flow{scales: scales{now: []float64{-2661}}}
	for _, delta := range [][]float64{{-3600}, {0, -3600}} { // a binary and a nominal coordinate
		r := dlmcRule{f}
		if len(delta) == 1 {
			r.flips(0, 0, delta)
		} else {
			r.weights(0, 0, 0, 1, delta)
			delta[0] = delta[1] - delta[0]
		}
		if got, want := delta[0], -2661-1800.0; got != want {
			t.Errorf("the logit is %g, want %g", got, want)
		}
	}
}
