package diag

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestJackknife: of the mean of numbers it is the usual standard error.
func TestJackknife(t *testing.T) {
	t.Parallel()
	x := []float64{1, 4, 2, 8, 5, 7}
	mean := func(without int) float64 {
		sum := 0.0
		for k, v := range x {
			if k != without {
				sum += v
			}
		}
		return sum / float64(len(x)-1)
	}
	m, v := 4.5, 0.0
	for _, a := range x {
		v += (a - m) * (a - m)
	}
	want := math.Sqrt(v / float64(len(x)*(len(x)-1)))
	if got := Jackknife(len(x), mean); math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
	if got := Jackknife(1, mean); !math.IsNaN(got) {
		t.Errorf("one part: %v", got)
	}
}

// apartBy are chains of an autoregression, each about a mean of its own.
func apartBy(rng *rand.Rand, chains, n int, apart float64) [][]float64 {
	out := make([][]float64, chains)
	for k := range out {
		out[k] = ar1(rng, n, 0.6)
		at := apart * rng.NormFloat64()
		for t := range out[k] {
			out[k][t] += at
		}
	}
	return out
}

// TestESSChainsError holds the error against its definition, essChains of all chains but one, and
// against the spread of essChains over repetitions, where chains agree and where they do not.
func TestESSChainsError(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	const chains = 12
	for _, apart := range []float64{0, 0.7} {
		var all, errs []float64
		for range 60 {
			x := apartBy(rng, chains, 200, apart)
			kept := slices.Clone(x)
			got := essChainsError(x)
			want := Jackknife(chains, func(k int) float64 {
				return essChains(slices.Concat(x[:k], x[k+1:])) * chains / (chains - 1)
			})
			if math.Abs(got-want) > 1e-9*want {
				t.Fatalf("means apart by %v: error %v, by its definition %v", apart, got, want)
			}
			for k := range x {
				if &kept[k][0] != &x[k][0] {
					t.Fatalf("it changed the chains")
				}
			}
			all, errs = append(all, essChains(x)), append(errs, got)
		}
		m, _ := meanVar(errs)
		_, v := meanVar(all)
		if spread := math.Sqrt(v); m < spread/1.6 || m > 1.6*spread {
			t.Errorf("means apart by %v: errors of %v, spread over repetitions %v", apart, m, spread)
		}
	}
	if got := essChainsError(apartBy(rng, 1, 100, 0)); !math.IsNaN(got) {
		t.Errorf("one chain: %v", got)
	}
}
