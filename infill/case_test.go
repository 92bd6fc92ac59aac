package infill

import (
	"slices"
	"testing"
	"unicode"

	"infill/infill/text"
)

// The words of a list are as their author gives them, if he uses capitals.
func TestNamesOfLists(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	for text, want := range map[string][]string{
		"They moved to [MASK|new york|a light blue house].": {
			"They moved to New York.", "They moved to a light blue house.",
		},
		"He eats a [MASK|Turkey|french] fry.": {"He eats a Turkey fry.", "He eats a french fry."},
	} {
		var got []string
		for _, f := range exactFill(t, e, text, Options{}).Fillings {
			got = append(got, f.Text)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A filled name has the score that its sentence has.
func TestNamesScored(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	for _, line := range []string{"Paris is the capital of [MASK].", "He was born in [MASK] 1960."} {
		names := 0
		for _, f := range exactFill(t, e, line, Options{Results: ResultOptions{Top: 20}}).Fillings {
			s, err := e.ScoreSpans(t.Context(), f.Text, f.Spans, ScorePLL)
			if err != nil || f.Recut || s.Score-f.Score > 1e-3 || f.Score-s.Score > 1e-3 {
				t.Errorf("%q has %v when filled, %v when scored (%v)", f.Text, f.Score, s.Score, err)
			}
			if unicode.IsUpper([]rune(f.Text[f.Spans[0][0]:])[0]) {
				names++
			}
		}
		if names < 5 {
			t.Errorf("%q: %d of 20 fillings are names", line, names)
		}
	}
}

// Of a blank's words those that differ in case are one: the model does not know the difference.
func TestNamesMarginals(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	tm, err := text.Parse(e.Tokenizer(), "They [MASK|may|did] [MASK|5|go].")
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Fill(t.Context(), tm,
		Options{Results: ResultOptions{Marginals: true}, Sampling: SamplingOptions{Temperature: 50}})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range r.Fillings {
		all = append(all, f.Text)
	}
	if !slices.Contains(all, "They May 5.") || !slices.Contains(all, "They may go.") {
		t.Fatalf("%q", all)
	}
	if n := r.Marginals.Blanks[0].Distinct; n > 2 {
		t.Errorf("blank 1 has %d words: %v", n, r.Marginals.Blanks[0].Likeliest)
	}
}
