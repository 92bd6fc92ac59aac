package chains

import (
	"math/rand/v2"
	"testing"

	"infill/infill/request"
)

// Combinations of lengths are as well mixed as the worst of them. One that is not known is.
func TestMixingOfCombinations(t *testing.T) {
	t.Parallel()
	moves := func(seed uint64) *history {
		rng, h := rand.New(rand.NewPCG(seed, 1)), &history{u: make([][]float64, 4)}
		for k := range h.u {
			for range 50 {
				h.u[k] = append(h.u[k], rng.NormFloat64())
			}
		}
		return h
	}
	short := &history{u: [][]float64{{1}, {2}}}
	a, b := moves(1), moves(2)
	var m request.Marginals
	mixing(&m, []*history{a, b})
	if *m.ESS != min(essMean(a.u), essMean(b.u)) ||
		*m.RHat != max(splitRHat(a.u), splitRHat(b.u)) || !(*m.ESS > 20) {
		t.Errorf("%v, %v", *m.ESS, *m.RHat)
	}
	for _, order := range [][]*history{{short, a, b}, {a, short, b}, {a, b, short}} {
		if mixing(&m, order); m.RHat != nil || m.ESS != nil {
			t.Errorf("R-hat %v though one combination has a state a chain", *m.RHat)
		}
	}
}

// What rounding leaves of a sum of shares is not the probability of anything.
func TestRestOfAllListed(t *testing.T) {
	t.Parallel()
	m := request.Marginal{Distinct: 3, Likeliest: []request.Estimate{{Probability: .7}, {Probability: .2}, {Probability: .1 - 1e-17}}}
	one := 1.0
	if left := one - .7 - .2 - .1; left <= 0 { // as floats round it
		t.Fatalf("the sum leaves %g", left)
	}
	if restOf(&m) != 0 {
		t.Errorf("%g is left of all texts", restOf(&m))
	}
	m.Distinct = 4
	if restOf(&m) == 0 {
		t.Error("nothing is left where a text is not listed")
	}
}

// A full record keeps every second state, evenly, and never more than it may.
func TestRecordThins(t *testing.T) {
	t.Parallel()
	r := newRecord(2, keptStates/20, 3)
	if r.most != 20 {
		t.Fatal(r.most)
	}
	for i := range int32(1000) {
		x := [][]int32{{i, i, i}, {-i, -i, -i}}
		r.add(x, []float64{float64(i), float64(-i)})
		if r.len() > r.most || len(r.x[1]) != 3*r.len() {
			t.Fatalf("%d states after %d", r.len(), i)
		}
		for j := range r.len() {
			if at := int32(j * r.stride); r.state(0, j)[2] != at || r.state(1, j)[0] != -at || r.u[1][j] != float64(-at) {
				t.Fatalf("state %d of stride %d is %v", j, r.stride, r.state(0, j))
			}
		}
	}
	if r.stride != 64 || r.len() != 16 {
		t.Errorf("stride %d, %d states", r.stride, r.len())
	}
}
