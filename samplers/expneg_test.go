package samplers

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestExpNeg(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	worst := 0.0
	for n := range 2000000 {
		x := 44 * (float64(n)/2000000 - 1)
		if n%2 == 1 {
			x = -math.Exp(-30*rng.Float64()) * 44
		}
		worst = max(worst, math.Abs(expNeg(x)/math.Exp(x)-1))
	}
	t.Logf("largest relative difference from math.Exp: %.3g", worst)
	if worst > 1e-14 || expNeg(0) != 1 {
		t.Errorf("expNeg differs from math.Exp by up to %g; expNeg(0) = %g", worst, expNeg(0))
	}
}

var sink float64

func BenchmarkExp(b *testing.B) {
	x := make([]float64, 16384)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range x {
		x[i] = -20 * rng.Float64()
	}
	for name, f := range map[string]func() float64{
		"math": func() (s float64) {
			for _, v := range x {
				if v > negligible {
					s += math.Exp(v)
				}
			}
			return s
		},
		"expNeg": func() (s float64) {
			for _, v := range x {
				if v > negligible {
					s += expNeg(v)
				}
			}
			return s
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				sink += f()
			}
		})
	}
}
