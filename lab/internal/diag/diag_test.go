package diag

import (
	"math"
	"math/rand/v2"
	"testing"

	"infill/internal/testmode"
)

// ar1 is an autoregression x_t = ρ x_{t−1} + noise, whose effective sample
// size is n(1−ρ)/(1+ρ).
func ar1(rng *rand.Rand, n int, rho float64) []float64 {
	x := make([]float64, n)
	s := rng.NormFloat64() / math.Sqrt(1-rho*rho)
	for i := range x {
		x[i] = s
		s = rho*s + rng.NormFloat64()
	}
	return x
}

func TestESSOfAutoregression(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 20000
	for _, rho := range []float64{-0.5, 0, 0.3, 0.9, 0.98} {
		want := n * (1 - rho) / (1 + rho)
		for name, f := range map[string]func([]float64) float64{"geyer": ESS, "batch": ESSBatch} {
			sum, reps := 0.0, repeats(8, 4)
			for range reps {
				sum += f(ar1(rng, n, rho)) / float64(reps)
			}
			if name == "batch" && rho > 0.9 {
				continue // batches of √n values are too short for it
			}
			if math.Abs(sum/want-1) > 0.15 {
				t.Errorf("%s: ESS %.0f at ρ = %g, want %.0f", name, sum, rho, want)
			}
		}
	}
}

// TestESSFirstIsTensorFlows compares with tfp.mcmc.effective_sample_size
// (TensorFlow Probability, JAX substrate, float64) on the same numbers.
func TestESSFirstIsTensorFlows(t *testing.T) {
	t.Parallel()
	var x []float64
	s, v := 12345, 0.0
	for range 400 {
		s = (s*1103515245 + 12345) % (1 << 31)
		v = 0.8*v + float64(s)/(1<<31) - 0.5
		x = append(x, v)
	}
	if got := ESSFirst(x); math.Abs(got-44.95246794846463) > 1e-9 {
		t.Errorf("ESS %.12f, want 44.952467948465", got)
	}
	if !math.IsNaN(ESSFirst(x[:3])) || ESSFirst(make([]float64, 9)) != 9 ||
		!math.IsNaN(ESSFirst([]float64{1, 2, 3, math.NaN()})) {
		t.Error("too few, constant or NaN values")
	}
}

// TestESSByHand is a series of mean 0 whose sums of pairs rise again, so that
// Geyer's sequence has to be made monotone. 14 times its autocovariances at lags
// 0 to 7 are 14, 3, 0, 1, 4, 3, −4, −3, so 14 Γ is 17, 1, 7, −7: the sum ends
// before the fourth and takes 1 for the third,
//
//	14 σ² = −14 + 2 (17 + 1 + 1) = 24,   ESS = 14·14/24
//
// Without the running minimum it would be 14·14/36, with the sum to its end
// (14 Γ goes on with −3, −5, −3) something else again.
func TestESSByHand(t *testing.T) {
	t.Parallel()
	x := []float64{1, 1, 1, 1, -1, 1, 1, -1, -1, -1, 1, -1, -1, -1}
	if got := ESS(x); !(math.Abs(got-14.*14/24) < 1e-12) {
		t.Errorf("ESS %.12f, want 14·14/24 = 8.166666666667", got)
	}
}

func TestAutocovIsTheDefinition(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 1))
	for _, n := range []int{1, 2, 3, 7, 64, 100} {
		x := ar1(rng, n, 0.5)
		mean := 0.0
		for _, v := range x {
			mean += v / float64(n)
		}
		got := autocov(x)
		for lag := range n {
			want := 0.0
			for i := 0; i+lag < n; i++ {
				want += (x[i] - mean) * (x[i+lag] - mean) / float64(n)
			}
			if math.Abs(got[lag]-want) > 1e-12 {
				t.Fatalf("n = %d: autocovariance at lag %d is %g, want %g", n, lag, got[lag], want)
			}
		}
	}
}

func TestDegenerateDiagnostics(t *testing.T) {
	t.Parallel()
	flat := []float64{2, 2, 2, 2, 2, 2, 2, 2, 2, 2}
	if got := ESS(flat); got != 10 {
		t.Errorf("ESS of a constant is %g, want its length", got)
	}
	if got := ESSBatch(flat); got != 9 {
		t.Errorf("batch ESS of a constant is %g, want 9 (three batches of three)", got)
	}
	if got := SplitRHat([][]float64{flat, flat}); got != 1 {
		t.Errorf("R-hat of constants is %g", got)
	}
	if got := SplitRHat([][]float64{flat, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}); !math.IsInf(got, 1) {
		t.Errorf("R-hat of different constants is %g", got)
	}
	for _, got := range []float64{ESS(nil), ESS(flat[:3]), ESSBatch(flat[:5]), SplitRHat(nil), SplitRHat([][]float64{flat[:3]})} {
		if !math.IsNaN(got) {
			t.Errorf("too little data gives %g, want NaN", got)
		}
	}
}

func TestSplitRHat(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 1))
	same := [][]float64{ar1(rng, 5000, 0.2), ar1(rng, 5000, 0.2), ar1(rng, 5000, 0.2)}
	if r := SplitRHat(same); r > 1.01 {
		t.Errorf("R-hat of chains of one law is %g", r)
	}
	shifted := [][]float64{same[0], ar1(rng, 5000, 0.2)}
	for i := range shifted[1] {
		shifted[1][i] += 3
	}
	// Two groups of two halves, means 3 apart, variance 1/(1−0.04) within.
	want := math.Sqrt(1 + 3*(1-0.04))
	if r := SplitRHat(shifted); math.Abs(r-want) > 0.1 {
		t.Errorf("R-hat of chains 3 apart is %g, want about %g", r, want)
	}
	trend := make([]float64, 5000)
	for i := range trend {
		trend[i] = rng.NormFloat64() + float64(i)/1000
	}
	if r := SplitRHat([][]float64{trend}); r < 1.3 {
		t.Errorf("R-hat of a trend is %g: splitting does not work", r)
	}
}

// repeats is how often a test repeats: the long run all times.
func repeats(all, quick int) int {
	if testmode.All() {
		return all
	}
	return quick
}
