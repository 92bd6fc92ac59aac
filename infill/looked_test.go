package infill

import (
	"math"
	"strings"
	"testing"
)

// What a search of one open length looked at is all of one piece, and of two pieces what is a part
// of a distribution: the chain rule sums to 1 over all tokens.
func TestLookedAt(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	fill := func(text string, o Options) *Result {
		t.Helper()
		o.Method, o.Results.All, o.Search.Effort = MethodSearch, true, EffortThorough
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
			n := len(f.IDs)
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

// Where a blank is the only one, its fillings of one piece compete in every list, however long: each
// that is better than the last of a list is in it.
func TestOnePieceCompetes(t *testing.T) {
	t.Parallel()
	small, e := New(openSmall(t)), New(tiny(t))
	words := wordsOf(e.Tokenizer(), nil)
	list := strings.Join(append(strings.Split(joinPairs(words), "\n")[:1500], words...), "|")
	toy := Weighted{Term: &toyTerm{name: "toy", odd: map[string]float64{}}, Weight: 2}
	for _, c := range []struct {
		engine *Engine
		before string
		blank  string
		after  string
		terms  []Weighted
	}{
		{e, "the ", "[MASK*1-2]", " sleeps .", nil},
		{e, "the ", "[MASK*1-2]", " sleeps .", []Weighted{toy}},
		{e, "the ", "[MASK|" + list + "]", " sleeps .", nil},
		{small, "We went to ", "[MASK*w]", " for our holiday.", nil},
		{small, "He was born in ", "[MASK*1-3]", " and died in the United States.", nil},
	} {
		single := map[string]float64{} // scores of one piece less the part of the length
		blank := "[MASK]"
		if strings.Contains(c.blank, "|") {
			blank = "[MASK|" + strings.Join(words, "|") + "]"
		}
		opt := Options{Results: ResultOptions{All: true}, Words: WordOptions{Terms: c.terms}}
		for _, f := range exactFill(t, c.engine, c.before+blank+c.after, opt).Fillings {
			single[f.Text] = f.Score
		}
		length := 0.0
		for _, top := range []int{60, 14, 1} { // the first has some of one piece
			opt.Results.All, opt.Results.Top = false, top
			r := exactFill(t, c.engine, c.before+c.blank+c.after, opt)
			if r.Method != MethodSearch || len(r.Fillings) != top {
				t.Fatalf("%s: %v, %d fillings of %d", c.blank, r.Method, len(r.Fillings), top)
			}
			listed := map[string]bool{}
			for _, f := range r.Fillings {
				if listed[f.Text] = true; len(f.IDs) == 1 {
					length = f.Parts.Length
					if d := f.Score - length - single[f.Text]; math.Abs(d) > 1e-5 {
						t.Errorf("%q scores %v more than by itself", f.Text, d)
					}
				}
			}
			last := r.Fillings[top-1].Score
			for text, u := range single {
				if u+length > last+1e-5 && !listed[text] {
					t.Errorf("%s, %d: %q (%v) is missing, the last has %v", c.blank, top, text, u+length, last)
				}
			}
		}
	}
}
