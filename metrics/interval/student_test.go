package interval

import (
	"math"
	"testing"
)

// The values are SciPy's: scipy.stats.t.ppf((1 + level) / 2, freedom), version 1.17.
func TestTwo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		level   float64
		freedom int
		want    float64
	}{
		{0.5, 1, 1},
		{0.5, 2, 0.816496580928},
		{0.5, 19, 0.687621460204},
		{0.9, 3, 2.3533634348},
		{0.9, 1000, 1.64637881729},
		{0.95, 1, 12.7062047362},
		{0.95, 2, 4.30265272975},
		{0.95, 3, 3.18244630528},
		{0.95, 4, 2.7764451052},
		{0.95, 5, 2.57058183564},
		{0.95, 19, 2.09302405441},
		{0.95, 49, 2.00957523713},
		{0.95, 200, 1.97189622363},
		{0.95, 201, 1.97183650678},
		{0.95, 1000000, 1.95996635681},
		{0.99, 50, 2.67779327094},
		{0.999999, 1, 636619.772278},
		{0.999999, 2, 999.99924993},
		{0.999999, 200, 5.04828565982},
		{0.999999, 201, 5.04748499227},
	} {
		if got := Student(c.level, c.freedom); math.Abs(got/c.want-1) > 1e-8 {
			t.Errorf("level %v, %d degrees: %.12g, want %.12g", c.level, c.freedom, got, c.want)
		}
	}
	for _, got := range []float64{Student(0, 3), Student(1, 3), Student(0.9, 0),
		Student(math.NaN(), 3)} {
		if !math.IsNaN(got) {
			t.Errorf("%v, want NaN", got)
		}
	}
}
