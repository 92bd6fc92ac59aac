package chains

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// ArviZ 0.23.4, ess(x, method="mean"), gives the same numbers (testdata/essmean.py), where its sum ends
// before the lags do. Otherwise it leaves the last lags out.
func TestESSMeanIsThatOfArviZ(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/essmean.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Chains [][]float64 `json:"chains"`
		ESS    float64     `json:"ess"`
		Ends   bool        `json:"ends"`
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	same := 0
	for i, c := range cases {
		got := essMean(c.Chains)
		if c.Ends {
			same++
		}
		if math.Abs(got-c.ESS) > 1e-6*c.ESS && (c.Ends || got > 1.1*c.ESS || got < c.ESS/2) {
			t.Errorf("case %d, %d chains of %d: %v, want %v", i, len(c.Chains), len(c.Chains[0]), got, c.ESS)
		}
	}
	if same < 7 {
		t.Errorf("%d cases of %d can be the same", same, len(cases))
	}
}

// Chains of two states have a mean whose standard error is known:
// p(1−p)τ/MN with τ = (1+λ)/(1−λ) for long chains. The errors of many runs, in standard errors, have
// a mean square near 1, also where chains hardly move.
func TestESSMeanStandardError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		chains, n   int
		p, lambda   float64
		least, most float64
	}{
		{25, 25, .3, 0, .8, 1.35},
		{25, 25, .3, .8, .8, 1.35},
		{25, 25, .3, .97, .8, 1.5},
		{25, 25, .1, .5, .8, 1.5},
		{4, 500, .5, .8, .75, 1.35},
		{1, 2000, .4, .7, .75, 1.35},
	} {
		sum, runs := 0.0, 600
		for seed := range runs {
			rng := rand.New(rand.NewPCG(uint64(seed), 7))
			chains := make([][]float64, c.chains)
			mean := 0.0
			for k := range chains {
				x := rng.Float64() < c.p
				for range c.n {
					if rng.Float64() > c.lambda {
						x = rng.Float64() < c.p
					}
					v := 0.0
					if x {
						v = 1
					}
					chains[k] = append(chains[k], v)
					mean += v / float64(c.chains*c.n)
				}
			}
			sum += (mean - c.p) * (mean - c.p) / (mean * (1 - mean) / essMean(chains))
		}
		if z2 := sum / float64(runs); z2 < c.least || z2 > c.most {
			t.Errorf("%+v: mean square of z is %.2f", c, z2)
		} else {
			t.Logf("%+v: %.2f", c, z2)
		}
	}
}

func TestESSMeanOfLittle(t *testing.T) {
	t.Parallel()
	for _, chains := range [][][]float64{
		nil, {{}}, {{1, 2, 3, 4, 5, 6, 7}},
		{{1, 2, 3, 4, 5, math.NaN(), 7, 8}}, {{1, 2, 3, 4, 5, math.Inf(1), 7, 8}},
	} {
		if v := essMean(chains); !math.IsNaN(v) {
			t.Errorf("%v: %v", chains, v)
		}
	}
	if v := essMean([][]float64{make([]float64, 8), make([]float64, 8)}); v != 16 {
		t.Error(v)
	}
	// 25 chains that stand still are 25 values.
	var still [][]float64
	for k := range 25 {
		c := make([]float64, 24)
		for i := range c {
			c[i] = float64(k % 2)
		}
		still = append(still, c)
	}
	if v := essMean(still); math.Abs(v-25) > 2 {
		t.Error(v)
	}
}

// Halves that are 3 apart, of values with a known variance, and what is too little to tell.
func TestSplitRHat(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 1))
	near, far := make([]float64, 10000), make([]float64, 10000)
	for i := range near {
		near[i], far[i] = rng.NormFloat64(), 3+rng.NormFloat64()
	}
	flat := make([]float64, 10)
	for _, c := range []struct {
		chains      [][]float64
		want, error float64
	}{
		{[][]float64{near}, 1, .001},
		{[][]float64{near, far}, 2, .05}, // means of halves 0, 0, 3 and 3 vary by 3
		{[][]float64{slices.Concat(near[:5000], far[5000:])}, math.Sqrt(1 + 4.5), .05},
		{[][]float64{flat, flat}, 1, 0},
	} {
		if got := splitRHat(c.chains); !(math.Abs(got-c.want) <= c.error) {
			t.Errorf("R-hat %v, want %v", got, c.want)
		}
	}
	if got := splitRHat([][]float64{flat, {1, 1, 1, 1, 1, 1}}); !math.IsInf(got, 1) {
		t.Errorf("R-hat of different constants is %v", got)
	}
	for _, few := range [][][]float64{nil, {flat[:3]}} {
		if got := splitRHat(few); !math.IsNaN(got) {
			t.Errorf("R-hat of %d chains of too little is %v", len(few), got)
		}
	}
}

// autocov has the autocovariances by their definition.
func TestAutocov(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 1))
	for _, n := range []int{1, 2, 3, 7, 64, 100} {
		x, mean := make([]float64, n), 0.0
		for i := range x {
			x[i] = rng.NormFloat64()
			mean += x[i] / float64(n)
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
