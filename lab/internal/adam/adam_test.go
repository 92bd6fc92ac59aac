package adam

import (
	"math"
	"testing"
)

// TestTwoSteps takes two steps by hand: the first has length Rate whatever the gradient.
func TestTwoSteps(t *testing.T) {
	t.Parallel()
	a, p := Optimiser{Rate: 0.1}, []float64{1, 2}
	a.Ascend(p, []float64{3, -0.5})
	if math.Abs(p[0]-1.1) > 1e-8 || math.Abs(p[1]-1.9) > 1e-8 {
		t.Errorf("after one step %v, want [1.1 1.9]", p)
	}
	a.Ascend(p, []float64{1, 0})
	m := [2]float64{(0.9*0.3 + 0.1) / 0.19, 0.9 * -0.05 / 0.19}
	v := [2]float64{(0.999*0.009 + 0.001) / 0.001999, 0.999 * 0.00025 / 0.001999}
	for i, from := range []float64{1.1, 1.9} {
		if want := from + 0.1*m[i]/math.Sqrt(v[i]); math.Abs(p[i]-want) > 1e-7 {
			t.Errorf("after two steps %v at %d, want %v", p[i], i, want)
		}
	}
}

// TestClimbs finds the top of a concave function.
func TestClimbs(t *testing.T) {
	t.Parallel()
	a, p := Optimiser{Rate: 0.05}, []float64{5, -3}
	for range 2000 {
		a.Ascend(p, []float64{-2 * (p[0] - 1), -40 * (p[1] - 2)})
	}
	if math.Abs(p[0]-1) > 1e-3 || math.Abs(p[1]-2) > 1e-3 {
		t.Errorf("the top is at %v, want [1 2]", p)
	}
}
