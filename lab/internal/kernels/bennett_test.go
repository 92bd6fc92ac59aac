package kernels

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Gaussian log-weights obey Crooks' relation: N(log Z − s²/2, s²) on the way up and
// N(log Z + s²/2, s²) on the way down. The estimate has no bias then, and its variance is that
// which it says, also for unequal numbers.
func TestBennett(t *testing.T) {
	t.Parallel()
	const logZ, runs = 3.0, 200
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		n, m int
		s    float64
	}{{40, 40, 2}, {30, 60, 2}, {60, 30, 1}, {100, 100, 4}} {
		z2, sum, square := 0.0, 0.0, 0.0
		for range runs {
			up, down := make([]float64, c.n), make([]float64, c.m)
			for i := range up {
				up[i] = logZ - c.s*c.s/2 + c.s*rng.NormFloat64()
			}
			for i := range down {
				down[i] = logZ + c.s*c.s/2 + c.s*rng.NormFloat64()
			}
			got, variance := bennett(up, down)
			e := got - logZ
			z2 += e * e / variance / runs
			sum += e / runs
			square += e * e / runs
		}
		if !(z2 > .75 && z2 < 1.35) || !(math.Abs(sum) < 4.5*math.Sqrt(square/runs)) {
			t.Errorf("%+v: mean square of z %.2f, mean error %.4f of %.4f", c, z2, sum, math.Sqrt(square))
		}
	}
}

// Equal weights say Z for certain. Weights that nowhere meet, and none, say nothing of it.
func TestBennettAtTheEnds(t *testing.T) {
	t.Parallel()
	if got, v := bennett([]float64{2, 2}, []float64{2, 2, 2}); math.Abs(got-2) > 1e-9 || v > 1e-9 {
		t.Errorf("%v, %v", got, v)
	}
	if got, v := bennett([]float64{0, 0}, []float64{2000, 2000}); !(got >= 0 && got <= 2000) || !(v > 1e6) {
		t.Errorf("%v, %v", got, v)
	}
	if got, v := bennett([]float64{negInf, negInf}, []float64{1}); got != negInf || !math.IsInf(v, 1) {
		t.Errorf("%v, %v", got, v)
	}
	if got, v := bennett([]float64{0, 1}, []float64{0.5, math.Inf(1)}); !finite(got) ||
		math.IsNaN(v) {
		t.Errorf("with a path that cannot be: %v, %v", got, v)
	}
	if got, v := bennett([]float64{negInf, 1}, []float64{1}); !finite(got) || !(v > 0) || math.IsNaN(v) {
		t.Errorf("%v, %v", got, v)
	}
}
