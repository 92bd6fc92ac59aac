package interval

import (
	"math"
	"testing"
)

// Of a mean it is the usual interval: t of 4 degrees times the standard error, which is
// √(12.8 / 4 / 5).
func TestJackknife(t *testing.T) {
	t.Parallel()
	x := []float64{3, 1, 4, 1, 5}
	var without []float64
	for _, v := range x {
		without = append(without, (14-v)/4)
	}
	const want = 2.7764451052 * 0.8
	if got := Jackknife(0.95, without); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("%.12g, want %.12g", got, want)
	}
	if got := Jackknife(0.95, without[:1]); !math.IsNaN(got) {
		t.Errorf("of one part: %v", got)
	}
	if got := Jackknife(0.95, nil); !math.IsNaN(got) {
		t.Errorf("of none: %v", got)
	}
}
