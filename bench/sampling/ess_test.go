package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Chains of an autoregression of order 1 are worth (1−φ)/(1+φ) draws a step.
func TestPooledESSOfAutoregressions(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, phi := range []float64{0, 0.5, 0.9} {
		chains := make([][]float64, 8)
		for k := range chains {
			v := rng.NormFloat64()
			for range 4000 {
				v = phi*v + math.Sqrt(1-phi*phi)*rng.NormFloat64()
				chains[k] = append(chains[k], v)
			}
		}
		want := 8 * 4000 * (1 - phi) / (1 + phi)
		if got := pooledESS(chains); math.Abs(got/want-1) > 0.1 {
			t.Errorf("φ = %v: %.0f effective samples, want %.0f", phi, got, want)
		}
	}
}

// Chains that never move are worth one draw each, or less, and not one a step.
func TestPooledESSOfStuckChains(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	chains := make([][]float64, 10)
	for k := range chains {
		v := rng.NormFloat64()
		for range 100 {
			chains[k] = append(chains[k], v)
		}
	}
	if got := pooledESS(chains); got > 12 {
		t.Errorf("%.1f effective samples of 10 chains that never move", got)
	}
}
