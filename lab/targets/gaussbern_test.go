package targets

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"infill/lab/internal/check"
	"infill/lab/internal/stable"
)

// TestGaussianBernoulliRefuses: each error says where and what to do.
func TestGaussianBernoulliRefuses(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	for what, c := range map[string]struct {
		w, b []float64
		says string
	}{
		"shape":      {[]float64{1, 0, 0}, []float64{0, 0}, "want their square"},
		"asymmetric": {[]float64{1, .2, .3, 1}, []float64{0, 0}, "at (1, 0); use (W + Wᵀ)/2"},
		"indefinite": {[]float64{1, 2, 2, 1}, []float64{0, 0}, "raise its diagonal"},
		"NaN weight": {[]float64{1, nan, nan, 1}, []float64{0, 0}, "want finite"},
		"infinite":   {[]float64{inf, 0, 0, 1}, []float64{0, 0}, "want finite"},
		"NaN bias":   {[]float64{1, 0, 0, 1}, []float64{0, nan}, "want finite"},
	} {
		if _, err := NewGaussianBernoulli(c.w, c.b); !errors.Is(err, check.ErrShape) ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %q", what, err, c.says)
		}
	}
}

// TestGaussianBernoulliFarRatios: where ψ is below what a number can hold, the log-ratios follow
// the closed form. Of one draw u they are −l_i, l_i being the log-odds of x_i given u, and log ψ(x
// | u) = Σ log σ(l_i). Of two draws they are the log-mean.
func TestGaussianBernoulliFarRatios(t *testing.T) {
	t.Parallel()
	const d = 6
	w, b := make([]float64, d*d), make([]float64, d)
	for i := range d {
		w[i*d+i], b[i] = 900, -450
	}
	g := must(NewGaussianBernoulli(w, b))
	x := [][]int32{{0, 1, 0, 1, 1, 0}}
	draw := func(rng *rand.Rand, batch int) (num, den []float64) {
		n, m := [][]float64{make([]float64, d)}, [][]float64{make([]float64, d)}
		if err := g.EstimateRatios(t.Context(), x, batch, []*rand.Rand{rng}, n, m); err != nil {
			t.Fatal(err)
		}
		return n[0], m[0]
	}
	least := 0.0
	for seed := range uint64(30) {
		one, two := rand.New(rand.NewPCG(1, seed)), rand.New(rand.NewPCG(1, seed))
		num, den := draw(one, 1)
		num2, den2 := draw(one, 1)
		both, below := draw(two, 2)
		for i := range d {
			psi := 0.0
			for j := range d {
				psi -= stable.Softplus(num[j] - den[j])
			}
			if !(math.Abs(den[i]-psi) < 1e-9*(1+math.Abs(psi))) {
				t.Errorf("seed %d: log ψ is %g, of its factors %g", seed, den[i], psi)
			}
			if l := den[i] - num[i]; !(math.Abs(l) < 700) || l == 0 {
				t.Errorf("seed %d: log-odds %g", seed, l)
			}
			for _, c := range [][3]float64{{num[i], num2[i], both[i]}, {den[i], den2[i], below[i]}} {
				want := stable.LogSumExp(c[:2]) - math.Ln2
				if !(math.Abs(c[2]-want) < 1e-9*(1+math.Abs(want))) {
					t.Errorf("seed %d: the log-mean of %g and %g is %g", seed, c[0], c[1], c[2])
				}
			}
			least = math.Min(least, psi)
		}
	}
	if least > -800 {
		t.Errorf("the smallest log ψ is %g, which exp can hold", least)
	}
}
