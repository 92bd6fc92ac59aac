package chains

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Chains of an autoregression of order 1 are worth (1−φ)/(1+φ) draws a step.
func TestESSOfAutoregressions(t *testing.T) {
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
		if got := ESS(chains); math.Abs(got/want-1) > 0.1 {
			t.Errorf("φ = %v: %.0f effective samples, want %.0f", phi, got, want)
		}
	}
}

// Chains that never move are worth one draw each, or less, and not one a step.
func TestESSOfStuckChains(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	chains := make([][]float64, 10)
	for k := range chains {
		v := rng.NormFloat64()
		for range 100 {
			chains[k] = append(chains[k], v)
		}
	}
	if got := ESS(chains); got > 12 {
		t.Errorf("%.1f effective samples of 10 chains that never move", got)
	}
}

// The tokens of a chain are worth what an indicator is worth where there are two of them, and
// blanks that never change count for nothing.
func TestESSOfTokens(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	tr := Trace{Energy: make([][]float64, 6), Tokens: make([][][]int32, 6)}
	is := make([][]float64, 6)
	for k := range tr.Tokens {
		id := int32(7)
		for range 500 {
			if rng.Float64() < 0.1 {
				id = 16 - id
			}
			tr.Energy[k] = append(tr.Energy[k], 0)
			tr.Tokens[k] = append(tr.Tokens[k], []int32{5, id})
			is[k] = append(is[k], float64(id))
		}
	}
	want := ESS(is)
	if got := tr.TokenESS(0); math.Abs(got/want-1) > 1e-6 || got > 1000 {
		t.Errorf("%v effective samples, want %v", got, want)
	}
}

// A trace of two chains by hand.
func TestTrace(t *testing.T) {
	t.Parallel()
	a, b, c := []int32{1, 2}, []int32{1, 3}, []int32{4, 3}
	tr := Trace{
		Energy: [][]float64{{-9, -2, -2, -2}, {-5, -5, -2, -4}},
		Tokens: [][][]int32{{c, a, a, a}, {b, b, a, b}},
	}
	if got := tr.Moves(0); got != 1.5 {
		t.Errorf("%v moves a chain, want 1.5", got)
	}
	if got := tr.Moves(1); got != 1 {
		t.Errorf("%v moves a chain after the first step, want 1", got)
	}
	last := Quality{Mean: -3, Best: -3, Distinct: 2}
	if got := tr.At(3); got != last {
		t.Errorf("%+v, want %+v", got, last)
	}
	all := Quality{Mean: -31.0 / 8, Best: -16.0 / 3, Distinct: 3}
	got := tr.Visited()
	if math.Abs(got.Mean-all.Mean)+math.Abs(got.Best-all.Best) > 1e-9 || got.Distinct != 3 {
		t.Errorf("%+v, want %+v", got, all)
	}
}
