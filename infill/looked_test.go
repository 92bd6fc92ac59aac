package infill

import (
	"math"
	"testing"
)

// What a search of one open length looked at is all of one piece, and of two pieces what is a part
// of a distribution: the chain rule sums to 1 over all tokens.
func TestLookedAt(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	fill := func(text string, o Options) *Result {
		t.Helper()
		o.Method, o.Results.All = MethodSearch, true
		r, err := e.FillText(t.Context(), text, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, s := range []string{"the [MASK*1-2] dog sleeps .", "the [MASK*w] sleeps in the house ."} {
		r := fill(s, Options{})
		shares, sum := map[int]float64{}, 0.0
		for i := range r.Fillings {
			f := &r.Fillings[i]
			n := len(f.ids)
			shares[n] = math.Exp(f.Parts.Length - perPiece*float64(n))
			if n > 1 {
				sum += shares[n] * math.Exp(f.Parts.Left)
			}
		}
		sum += shares[1]
		if shares[1] == 0 || len(shares) < 2 {
			t.Fatalf("%s: lengths %v", s, shares)
		}
		if !(math.Abs(r.LookedAt-sum) < 1e-6) || !(r.LookedAt > shares[1]) || r.LookedAt > 1 {
			t.Errorf("%s: looked at %v, want %v", s, r.LookedAt, sum)
		}
		t.Log(s, r.LookedAt)
	}
	for _, s := range []string{"the [MASK] dog and the [MASK] .", "the [MASK*1-2] and the [MASK] ."} {
		if r := fill(s, Options{}); r.LookedAt != 0 {
			t.Errorf("%s: looked at %v", s, r.LookedAt)
		}
	}
	if r := fill("the [MASK*1-2] dog .", Options{Results: ResultOptions{Score: ScorePLL}}); r.LookedAt != 0 {
		t.Errorf("with pll: looked at %v", r.LookedAt)
	}
}
