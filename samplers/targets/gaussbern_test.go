package targets

import (
	"errors"
	"math"
	"strings"
	"testing"
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
		if _, err := NewGaussianBernoulli(c.w, c.b); !errors.Is(err, ErrShape) ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %q", what, err, c.says)
		}
	}
}
