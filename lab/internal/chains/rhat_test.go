package chains

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Chains of one law agree, also where it has no mean. Those that differ in place or in width do not.
func TestRankRHat(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(f func(k int) float64) [][]float64 {
		out := make([][]float64, 8)
		for k := range out {
			for range 500 {
				out[k] = append(out[k], f(k))
			}
		}
		return out
	}
	cauchy := func(int) float64 { return math.Tan(math.Pi * (rng.Float64() - 0.5)) }
	if r := RankRHat(draw(cauchy)); r > 1.02 {
		t.Errorf("%v of equal chains", r)
	}
	for name, f := range map[string]func(k int) float64{
		"place": func(k int) float64 { return rng.NormFloat64() + float64(k%2) },
		"width": func(k int) float64 { return rng.NormFloat64() * float64(1+k%2*3) },
	} {
		if r := RankRHat(draw(f)); r < 1.1 {
			t.Errorf("%v of chains that differ in %s", r, name)
		}
	}
	if r := RankRHat([][]float64{{1, 2}, {3}}); !math.IsNaN(r) {
		t.Errorf("%v of three values", r)
	}
}

// The scores of 1, 2, 2 and 9: ranks 1, 2½, 2½ and 4, by hand.
func TestNormalScores(t *testing.T) {
	t.Parallel()
	got := normalScores([][]float64{{2, 9}, {1, 2}})
	want := [][]float64{{0, 1.0491314}, {-1.0491314, 0}} // Φ⁻¹(3.625/4.25)
	for k := range want {
		for s := range want[k] {
			if math.Abs(got[k][s]-want[k][s]) > 1e-6 {
				t.Errorf("chain %d, step %d: %v, want %v", k, s, got[k][s], want[k][s])
			}
		}
	}
}
