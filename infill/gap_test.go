package infill

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"infill/infill/internal/search"
	"infill/infill/text"
)

// The score of a filling of open length is the one that it has with its length told, and
// log P(n) + ¾·n. The tiny model has learned no lengths: constant shares count.
func TestLengthPart(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	share := []float64{.316, .314, .168} // of one to three pieces
	sum := share[0] + share[1] + share[2]
	for name, opt := range map[string]Options{"search": {},
		"sample": {Sampling: SamplingOptions{Steps: 10, Chains: 12}}} {
		opt.Results.Top = 40
		r := exactFill(t, e, "the [MASK*1-3] saw the cat .", opt)
		if r.Lengths != "constant" || r.PerToken || len(r.Fillings) < 20 {
			t.Fatalf("%s: lengths are %q, %d fillings", name, r.Lengths, len(r.Fillings))
		}
		seen := map[int]int{}
		for i, f := range r.Fillings {
			n := len(f.IDs)
			seen[n]++
			want := math.Log(share[n-1]/sum) + .75*float64(n)
			if math.Abs(f.Parts.Length-want) > 1e-6 {
				t.Errorf("%s: %q has %v for its length, want %v", name, f.Text, f.Parts.Length, want)
			}
			s, err := e.ScoreSpans(t.Context(), f.Text, f.Spans, ScoreBlended)
			if err != nil {
				t.Fatal(err)
			}
			if !f.Recut && math.Abs(f.Score-s.Score-want) > 1e-4 {
				t.Errorf("%s: %q scores %v, want %v and %v", name, f.Text, f.Score, s.Score, want)
			}
			if i > 0 && f.Score > r.Fillings[i-1].Score {
				t.Errorf("%s: %q is not in its place", name, f.Text)
			}
		}
		if len(seen) < 2 {
			t.Errorf("%s: all fillings have the same length: %v", name, seen)
		}
	}
}

// With U alone nothing is added for a length, and the score per token ranks.
func TestLengthsPLL(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	r := exactFill(t, e, "the [MASK*1-3] saw the cat .",
		Options{Results: ResultOptions{Score: ScorePLL, Top: 20}})
	if r.Lengths != "" || !r.PerToken {
		t.Errorf("lengths are %q, per token: %v", r.Lengths, r.PerToken)
	}
	for i, f := range r.Fillings {
		if f.Parts.Length != 0 || math.Abs(f.Score-f.Parts.PLL) > 1e-9 ||
			i > 0 && f.ScorePerToken > r.Fillings[i-1].ScorePerToken+1e-9 {
			t.Errorf("number %d: %+v", i, f)
		}
	}
}

// The lengths that a search begins are the likeliest combinations, as a walk through all finds them.
func TestLikelyLengths(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	opt := Options{}
	if err := opt.Prepare(); err != nil {
		t.Fatal(err)
	}
	tm := parsed(t, e, "the [MASK*1-8] saw the [MASK*2-9] and [MASK*1-7] .")
	open, err := e.readGaps(t.Context(), tm, make([][]text.Phrase, 3), &opt)
	if err != nil {
		t.Fatal(err)
	}
	type combination struct {
		counts string
		logP   float64
	}
	var all []combination
	for a := range 8 {
		for b := range 8 {
			for c := range 7 {
				all = append(all, combination{fmt.Sprint([]int{1 + a, 2 + b, 1 + c}),
					open.shares[0][a] + open.shares[1][b] + open.shares[2][c]})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b combination) int { return int(math.Copysign(1, b.logP-a.logP)) })
	got, least := open.choices(), math.Log(search.LeastShare(EffortNormal))
	got = slices.DeleteFunc(got, func(c choice) bool { return c.unlikely })
	if len(got) > maxLengths || len(got) < 20 {
		t.Errorf("%d combinations", len(got))
	}
	for i, c := range got {
		if math.Abs(c.logP-all[i].logP) > 1e-9 || c.logP < all[0].logP+least {
			t.Errorf("number %d is %v with %v, want %v", i, c.counts, c.logP, all[i])
		}
	}
	if len(got) < maxLengths && all[len(got)].logP > all[0].logP+least {
		t.Errorf("%v is left out", all[len(got)])
	}
}

// Candidates of different lengths have the same part, and none when the score per token ranks.
func TestCandidateLengths(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tm := parsed(t, e, "the [MASK] saw the cat .")
	words := []string{"dog", "a dog"}
	got, err := e.Candidates(t.Context(), tm, words, CandidateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range got {
		n := len(strings.Fields(c.Candidate))
		want := math.Log([]float64{.316, .314}[n-1]/.63) + .75*float64(n)
		s, err := e.ScoreSpans(t.Context(), c.Text, [][2]int{{4, 4 + len(c.Candidate)}}, ScoreBlended)
		if err != nil || math.Abs(c.Length-want) > 1e-6 || math.Abs(c.Score-s.Score-want) > 1e-4 {
			t.Errorf("%q: %v, length %v, want %v and %v: %v", c.Candidate, c.Score, c.Length, s.Score, want,
				err)
		}
	}
	for name, o := range map[string]CandidateOptions{"tokens": {PerToken: true},
		"pll": {Score: ScorePLL}} {
		got, err := e.Candidates(t.Context(), tm, words, o)
		if err != nil || got[0].Length != 0 || got[1].Length != 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	got, err = e.Candidates(t.Context(), tm, []string{"dog", "cat"}, CandidateOptions{})
	if err != nil || got[0].Length != 0 {
		t.Errorf("of one length: %+v, %v", got, err)
	}
}

// A length that is unlikely is begun where no likelier one has a filling.
func TestUnlikelyLengths(t *testing.T) {
	t.Parallel()
	r := exactFill(t, New(tiny(t)), "the [MASK*w/ing$/] saw a cat .", Options{})
	for _, f := range r.Fillings {
		if !strings.HasSuffix(f.Tokens[0], "ing") || len(f.IDs) < 2 {
			t.Errorf("%+v", f)
		}
	}
}
