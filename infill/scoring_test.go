package infill

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"infill/internal/testmode"
	"infill/mlm"
)

// rowAt is log f(token | ids with these places masked) at a place, from the model's row over the
// whole vocabulary: by another call than scores make.
func rowAt(t *testing.T, m *mlm.Model, ids []int32, at int, masked []int, token int32) float64 {
	t.Helper()
	seq := slices.Clone(ids)
	for _, p := range masked {
		seq[p] = m.Tokenizer().MaskID()
	}
	out := zeros[float32](1, m.VocabSize())
	s := &mlm.Sentence{IDs: seq, Blanks: []int{at}}
	if err := m.Conditional(t.Context(), s, [][]int32{{token}}, []int{0}, out); err != nil {
		t.Fatal(err)
	}
	return float64(out[0][token])
}

// naive has the sums of a text's pieces, by their definitions.
func naive(t *testing.T, m *mlm.Model, text string, places func(i int, word string) bool) (p Parts,
	within float64) {
	t.Helper()
	enc, err := m.Tokenizer().Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	var at []int
	for i := range enc.IDs {
		if !enc.Special[i] && places(i, enc.Tokens[i]) {
			at = append(at, i)
		}
	}
	for k, i := range at {
		id := enc.IDs[i]
		later := []int{i}
		for _, j := range at[k+1:] {
			if j != later[len(later)-1]+1 || !strings.HasPrefix(enc.Tokens[j], "##") {
				break
			}
			later = append(later, j)
		}
		p.PLL += rowAt(t, m, enc.IDs, i, []int{i}, id)
		p.Left += rowAt(t, m, enc.IDs, i, at[k:], id)
		p.Right += rowAt(t, m, enc.IDs, i, at[:k+1], id)
		within += rowAt(t, m, enc.IDs, i, later, id)
	}
	return p, within
}

// Scores of whole texts are the sums of their definitions.
func TestScoreText(t *testing.T) {
	t.Parallel()
	m := openSmall(t)
	e := New(m)
	for _, text := range []string{"She opened the door.", "An interdisciplinary souvenir, unimportantly.",
		"No."} {
		p, within := naive(t, m, text, func(int, string) bool { return true })
		for by, want := range map[Scoring]float64{
			ScorePLL: p.PLL, ScoreBlended: p.PLL/2 + p.Left/4 + p.Right/4, ScoreWithinWord: within,
		} {
			s, err := e.Score(t.Context(), text, ScoreOptions{By: by})
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, piece := range s.Pieces {
				sum += piece.LogProb
			}
			if math.Abs(s.Score-want) > 1e-4 || math.Abs(sum-s.Score) > 1e-9 {
				t.Errorf("%q: %v is %v, its pieces %v, want %v", text, by, s.Score, sum, want)
			}
		}
	}
	if _, err := e.Score(t.Context(), "No.", ScoreOptions{By: ScoreWithinWord + 1}); err == nil {
		t.Error("an unknown score")
	}
}

// The parts of fillings are the sums of their definitions, whatever the method is.
func TestFillingParts(t *testing.T) {
	t.Parallel()
	m := openSmall(t)
	e := New(m)
	for _, text := range []string{
		"The [MASK|souvenir|old key|dog] was in the [MASK|house|garden].",
		"The [MASK] was in the [MASK].", "The [MASK|souvenir|luggage|old dog] was lost.",
		"The [MASK:a|dog|guinea pig] and the [MASK:a] slept.",
	} {
		for _, method := range []Method{MethodSearch, MethodSample, MethodExact} {
			for _, score := range []Scoring{ScoreBlended, ScorePLL} {
				r := exactFill(t, e, text, Options{Method: method, Results: ResultOptions{Score: score, Top: 3},
					Sampling: SamplingOptions{Chains: 3, Steps: 3}})
				for _, f := range r.Fillings {
					enc, err := m.Tokenizer().Encode(f.Text)
					if err != nil {
						t.Fatal(err)
					}
					p, _ := naive(t, m, f.Text, func(i int, _ string) bool {
						return slices.ContainsFunc(f.Spans, func(s [2]int) bool {
							return enc.Spans[i][0] < s[1] && s[0] < enc.Spans[i][1]
						})
					})
					want := p.PLL
					if score == ScoreBlended {
						want = p.PLL/2 + p.Left/4 + p.Right/4 + f.Parts.Length // see TestCandidateLengths
						if math.Abs(f.Parts.Left-p.Left) > 1e-4 || math.Abs(f.Parts.Right-p.Right) > 1e-4 {
							t.Errorf("%v %q: parts %+v, want %+v", r.Method, f.Text, f.Parts, p)
						}
					}
					if math.Abs(f.Score-want) > 1e-4 || math.Abs(f.Parts.PLL-p.PLL) > 1e-4 {
						t.Errorf("%v %v %q: %v (%+v), want %v (%+v)", r.Method, score, f.Text, f.Score, f.Parts,
							want, p)
					}
				}
			}
		}
	}
}

// A word of several pieces is seldom ranked above likelier ones for the pieces that follow from the
// first, as it mostly is by the pseudo-log-likelihood.
func TestLongWordsGainLittle(t *testing.T) {
	testmode.Long(t)
	t.Parallel()
	e := New(openDefault(t))
	var right, pllRight int
	lists := []struct{ text, want string }{
		{"The traveler lost the [MASK|souvenir|luggage|ticket|passport].", "ticket"},
		{"When I am hungry, I eat a [MASK|pizza|banana|pasta|quesadilla|cheeseburger].", "pizza"},
		{"This result is [MASK|interdisciplinary|inconsequential|important|unimportant].", "important"},
		{"The car is [MASK|red|green|light blue].", "green"},
		{"She drank a cup of [MASK|coffee|chamomile|kombucha].", "coffee"},
		{"He closed the [MASK|door|turnstile|drawbridge] behind him.", "door"},
		{"The dog chased the [MASK|cat|chinchilla|hedgehog] up a tree.", "cat"},
		{"My brother is a [MASK|doctor|podiatrist|paleontologist] at the hospital.", "doctor"},
		{"We took the [MASK|train|gondola|monorail] to the city.", "train"},
		{"It was a cold [MASK|winter|equinox|wintertime] night.", "winter"},
	}
	for _, l := range lists {
		r := exactFill(t, e, l.text, Options{})
		if r.Fillings[0].Tokens[0] == l.want {
			right++
		} else {
			t.Logf("%s: %q has %v", l.text, r.Fillings[0].Tokens[0], r.Fillings[0].Probability)
		}
		pll := slices.MaxFunc(r.Fillings, func(a, b Filling) int {
			return cmp.Compare(a.Parts.PLL, b.Parts.PLL)
		})
		if pll.Tokens[0] == l.want {
			pllRight++
		}
	}
	if right < len(lists)-2 || pllRight > len(lists)/2 {
		t.Errorf("the likely short word is first in %d of %d, and in %d by the pseudo-log-likelihood", right,
			len(lists), pllRight)
	}
}

// Scores of 200 sentences agree with a program with another runtime's caller and another tokenizer,
// see testdata/make_text_scores.py.
func TestScoreTextExpected(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/text_scores.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Text                     string
		PLL, Within, Left, Right float64
	}
	if err := json.Unmarshal(b, &all); err != nil || len(all) != 200 {
		t.Fatal(len(all), err)
	}
	if !testmode.All() {
		all = all[:20]
	}
	e := New(openSmall(t))
	differ := 0
	for _, c := range all {
		for by, want := range map[Scoring]float64{
			ScorePLL: c.PLL, ScoreWithinWord: c.Within, ScoreBlended: c.PLL/2 + c.Left/4 + c.Right/4,
		} {
			s, err := e.Score(t.Context(), c.Text, ScoreOptions{By: by})
			if err != nil || math.Abs(s.Score-want) > 2e-3 {
				t.Errorf("%q: %v is %v, want %v: %v", c.Text, by, s.Score, want, err)
			}
		}
		if c.Within < c.PLL-1 {
			differ++
		}
	}
	if differ < len(all)/2 {
		t.Errorf("only %d texts have words of several pieces", differ)
	}
}
