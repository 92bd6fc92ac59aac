package samplers

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestLogFunctions compares with the same formulas in 200-bit arithmetic, for
// which log(1+z) is summed as a series.
func TestLogFunctions(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		x := math.Exp(10*rng.Float64()-5) * float64(1-2*rng.IntN(2))
		if got, want := logSigmoid(x), bigLogSigmoid(x); math.Abs(got-want) > 4e-16*math.Abs(want) {
			t.Fatalf("logSigmoid(%g) = %.17g, want %.17g", x, got, want)
		}
		if got, want := math.Exp(logSigmoid(x)), sigmoid(x); math.Abs(got-want) > 1e-13*want {
			t.Fatalf("sigmoid(%g) = %.17g, want %.17g", x, want, got)
		}
		p := math.Abs(x)
		if got, want := math.Exp(log1mExp(p)), -math.Expm1(-p); math.Abs(got-want) > 1e-14*want {
			t.Fatalf("1−exp(−%g) = %.17g, want %.17g", p, got, want)
		}
		y := 20 * rng.NormFloat64()
		if got, want := logAddExp(x, y), logSumExp([]float64{y, x}); math.Abs(
			got-want,
		) > 1e-14*(1+math.Abs(want)) {
			t.Fatalf("logAddExp(%g, %g) = %g, logSumExp %g", x, y, got, want)
		}
	}
	for _, x := range []float64{-1e308, -750, -40, 40, 750, 1e308} {
		if l := logSigmoid(x); math.IsNaN(l) || l > 0 || x < 0 && l != x && x < -40 {
			t.Errorf("logSigmoid(%g) = %g", x, l)
		}
	}
	if got := logSumExp([]float64{negInf, negInf}); !math.IsInf(got, -1) {
		t.Errorf("logSumExp of nothing is %g", got)
	}
	if got := logSumExp([]float64{1, math.NaN()}); !math.IsNaN(got) {
		t.Errorf("logSumExp hides a NaN: %g", got)
	}
	if got := logSumExp([]float64{1e308, 1e308}); math.IsInf(got, 0) {
		t.Errorf("logSumExp overflows: %g", got)
	}
}

// sigmoid is 1/(1+exp(−x)) without overflow.
func sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

// bigLogSigmoid is −log(1+e^{−x}) by atanh's series in 200 bits.
func bigLogSigmoid(x float64) float64 {
	f := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	// z = exp(−|x|) by its Taylor series after halving |x| sixteen times.
	r := f(math.Abs(x) / 65536)
	z, term := f(1), f(1)
	for k := 1; k < 30; k++ {
		term.Mul(term, r)
		term.Quo(term, f(float64(k)))
		if k%2 == 1 {
			z.Sub(z, term)
		} else {
			z.Add(z, term)
		}
	}
	for range 16 {
		z.Mul(z, z)
	}
	// log(1+z) = 2 atanh(z/(2+z)).
	q := new(big.Float).SetPrec(200).Quo(z, new(big.Float).SetPrec(200).Add(f(2), z))
	q2 := new(big.Float).SetPrec(200).Mul(q, q)
	sum, pow := f(0), q
	for k := 1; k < 140; k += 2 {
		sum.Add(sum, new(big.Float).SetPrec(200).Quo(pow, f(float64(k))))
		pow = new(big.Float).SetPrec(200).Mul(pow, q2)
	}
	sum.Mul(sum, f(-2))
	if x < 0 {
		sum.Add(sum, f(x))
	}
	out, _ := sum.Float64()
	return out
}

func TestDrawLog(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 3))
	lw := []float64{negInf, 0, -1, negInf, math.Log(3), -80, negInf}
	cum := make([]float64, len(lw))
	count := make([]float64, len(lw))
	const n = 100000
	want := make([]float64, len(lw))
	z := logSumExp(lw)
	for v, l := range lw {
		want[v] = math.Exp(l - z)
	}
	for range n {
		v, lse := drawLog(rng, lw, cum)
		if lse != z {
			t.Fatalf("normaliser %g, want %g", lse, z)
		}
		count[v]++
	}
	checkFrequencies(t, "drawLog", count, want, n)
	if count[0]+count[3]+count[6] > 0 {
		t.Error("drew an impossible category")
	}
	for _, bad := range [][]float64{{negInf, negInf}, {0, math.NaN()}, {0, math.Inf(1)}} {
		if v, _ := drawLog(rng, bad, cum); v != -1 {
			t.Errorf("drew %d from %v", v, bad)
		}
	}
	// The end of the range: no weight beyond the last positive one.
	if v := searchCum(2, []float64{0, 1, 2, 2, 2}); v != 2 {
		t.Errorf("rounding at the end gives %d, want 2", v)
	}
}
