package infill

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"infill/infill/text"
)

// A filter lets pass exactly those of the fillings that pass it when they are measured again: the
// distance by the plain recursion, the scores by the scoring of finished texts.
func TestFilter(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	const line = "the big dog sleeps in the house ."
	for _, c := range []struct {
		name string
		m    text.Masking
		opt  Options
	}{
		{"sampled", text.Masking{Words: 2}, Options{Sampling: SamplingOptions{Chains: 60, Steps: 3,
			Temperature: 5}, Results: ResultOptions{All: true,
			Score: ScorePLL}}},
		{"computed", text.Masking{Words: 1}, Options{Results: ResultOptions{All: true}}},
		{"computed, some", text.Masking{Words: 1}, Options{Results: ResultOptions{Top: 7}}},
	} {
		tm, words, err := c.m.Template(e.Tokenizer(), line, 3, "x")
		if err != nil {
			t.Fatal(err)
		}
		all := c.opt
		all.Words.Original, all.Results.Top, all.Results.All = words, 0, true
		free, err := e.Fill(t.Context(), tm, all)
		if err != nil {
			t.Fatal(err)
		}
		var spans [][2]int
		at, moved := 0, 0
		for i, b := range tm.Blanks {
			at = b.Start + moved
			spans = append(spans, [2]int{at, at + len(words[i])})
			moved += len(words[i]) - (b.End - b.Start)
		}
		was, err := e.ScoreSpans(t.Context(), line, spans, ScorePLL)
		if err != nil {
			t.Fatal(err)
		}
		// Bounds that some fillings meet, and some do not.
		least, most := math.MaxInt, 0
		for _, filling := range free.Fillings {
			least, most = min(least, filling.Edits), max(most, filling.Edits)
		}
		drop := was.Score - free.Fillings[len(free.Fillings)/2].Score
		for _, f := range []Filter{{MinEdits: most}, {MaxEdits: most - 1},
			{MinEdits: least + 1, MaxEdits: most - 1}, {MaxDrop: &drop},
			{MinEdits: least + 1, MaxDrop: &drop}} {
			var want []string
			for _, filling := range free.Fillings {
				n := edits(filling.Text, line)
				if filling.Edits != n {
					t.Errorf("%q: %d edits, want %d", filling.Text, filling.Edits, n)
				}
				if n < f.MinEdits || f.MaxEdits > 0 && n > f.MaxEdits {
					continue
				}
				if f.MaxDrop != nil && filling.Score < was.Score-*f.MaxDrop {
					continue
				}
				want = append(want, filling.Text)
			}
			if n := len(free.Fillings); len(want) == 0 || len(want) == n {
				t.Fatalf("%s, %+v: %d of %d pass: the test says nothing", c.name, f, len(want), n)
			}
			if c.opt.Results.Top > 0 {
				want = want[:min(len(want), c.opt.Results.Top)]
			}
			opt := c.opt
			opt.Words.Original, opt.Words.Filter = words, f
			got, err := e.Fill(t.Context(), tm, opt)
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, filling := range got.Fillings {
				texts = append(texts, filling.Text)
			}
			if strings.Join(texts, "|") != strings.Join(want, "|") {
				t.Errorf("%s, %+v: %q, want %q", c.name, f, texts, want)
			}
			if f.MaxDrop != nil && math.Abs(*got.OriginalScore-was.Score) > 1e-4 {
				t.Errorf("the original scores %v, want %v", *got.OriginalScore, was.Score)
			}
		}
		opt := c.opt
		opt.Words.Original, opt.Words.Filter = words, Filter{MinEdits: 500}
		if _, err := e.Fill(t.Context(), tm, opt); !errors.Is(err, ErrFiltered) {
			t.Errorf("%s: nothing passes: %v", c.name, err)
		}
		checkSimilarity(t, e, tm, c.opt, words, line, free.Fillings)
		opt.Words.Original = nil
		if _, err := e.Fill(t.Context(), tm, opt); !errors.Is(err, text.ErrOption) {
			t.Errorf("%s: a filter without an original: %v", c.name, err)
		}
	}
	tm, err := text.Parse(e.Tokenizer(), "the [MASK] .")
	if err != nil {
		t.Fatal(err)
	}
	drop := 1.0
	if _, err = e.Fill(t.Context(), tm,
		Options{Words: WordOptions{Filter: Filter{MaxDrop: &drop}, Original: []string{"dog"},
			Terms: []Weighted{{Term: Edit{}, Weight: 1}}}}); !errors.Is(err, text.ErrOption) {
		t.Errorf("a drop of a score with other parts: %v", err)
	}
	nan := math.NaN()
	for _, f := range []Filter{{MinEdits: -1}, {MinEdits: 3, MaxEdits: 2}, {MaxDrop: &nan},
		{MaxEdits: Ranges.MaxEdits.Max + 1}, {MinSimilarity: &drop}, {MaxSimilarity: &drop},
		{Similarity: alike{}, MinSimilarity: &nan}, {Similarity: alike{}, MaxSimilarity: &nan},
		{Similarity: alike{}, MinSimilarity: &drop, MaxSimilarity: new(float64)}} {
		_,
			err = e.Fill(t.Context(), tm, Options{Words: WordOptions{Filter: f, Original: []string{"dog"}}})
		if !errors.Is(err, text.ErrOption) {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

// alike says of a text 1 over one more than its edits. Of an even number it says nothing.
type alike struct{ noEven bool }

func (alike) Name() string { return "alike" }

func (alike) Rows() int { return 1 }

func (a alike) Values(_ context.Context, texts []Finished, v []float64) error {
	for k, f := range texts {
		n := edits(f.Text, f.Before())
		if v[k] = 1 / float64(1+n); a.noEven && n%2 == 0 {
			v[k] = math.NaN()
		}
	}
	return nil
}

// checkSimilarity compares what passes bounds on the similarity with all fillings, best first.
func checkSimilarity(t *testing.T, e *Engine, tm *text.Template, opt Options, words []string, text string,
	all []Filling) {
	t.Helper()
	middle := 0.2
	for _, f := range []Filter{{Similarity: alike{}, MinSimilarity: &middle},
		{Similarity: alike{}, MaxSimilarity: &middle, MinEdits: 5}, {Similarity: alike{true}}} {
		var want []string
		for _, filling := range all {
			n := edits(filling.Text, text)
			v := 1 / float64(1+n)
			if f.MinSimilarity != nil && v < middle || f.MaxSimilarity != nil && v > middle ||
				n < f.MinEdits || f.Similarity == (alike{true}) && n%2 == 0 {
				continue
			}
			want = append(want, fmt.Sprint(filling.Text, v))
		}
		if len(want) == 0 || len(want) == len(all) {
			t.Fatalf("%+v: %d of %d pass: the test says nothing", f, len(want), len(all))
		}
		if opt.Results.Top > 0 {
			want = want[:min(len(want), opt.Results.Top)]
		}
		opt.Words.Original, opt.Words.Filter = words, f
		r, err := e.Fill(t.Context(), tm, opt)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, filling := range r.Fillings {
			got = append(got, fmt.Sprint(filling.Text, *filling.Similarity))
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%+v: %q, want %q", f, got, want)
		}
	}
	most := -0.5
	opt.Words.Filter = Filter{Similarity: alike{}, MaxSimilarity: &most}
	_, err := e.Fill(t.Context(), tm, opt)
	if !errors.Is(err, ErrFiltered) || !strings.Contains(err.Error(), "of another similarity") {
		t.Errorf("nothing is unlike enough: %v", err)
	}
}

// The original of a text that is too long is scored in the window that the model sees, which has
// room for it, also where its words have more pieces than what fills their blanks.
func TestFilterWindow(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	for _, words := range []string{"the dog", "dogs cats"} {
		filterWindow(t, e, words)
	}
}

func filterWindow(t *testing.T, e *Engine, masked string) {
	t.Helper()
	line := strings.Repeat("a dog . ", e.model.MaxLength()) + masked + " sleeps ." +
		strings.Repeat(" a cat .", e.model.MaxLength())
	at := strings.Index(line, masked+" sleeps")
	m := text.Masking{Words: 2, MaskLabels: []string{"x"},
		Spans: []text.LabelledSpan{{Start: at, End: at + len(masked), Label: "x"}}}
	tm, words, err := m.Template(e.Tokenizer(), line, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	drop := 1000.0
	r, err := e.Fill(t.Context(), tm, Options{Words: WordOptions{Original: words,
		Filter: Filter{MaxDrop: &drop}}, Sampling: SamplingOptions{Chains: 2,
		Steps: 1}, Results: ResultOptions{Score: ScorePLL}})
	if err != nil || r.Window == nil {
		t.Fatalf("%v, %+v", err, r)
	}
	// The window as a text of its own, with the words in their places.
	seen := tm.Text[r.Window[0]:r.Window[1]]
	var spans [][2]int
	for _, w := range words {
		i := strings.Index(seen, "[MASK]")
		seen = seen[:i] + w + seen[i+len("[MASK]"):]
		spans = append(spans, [2]int{i, i + len(w)})
	}
	s, err := e.ScoreSpans(t.Context(), seen, spans, ScorePLL)
	if err != nil || *r.OriginalScore != s.Score || s.Score >= 0 {
		t.Errorf("%v: the original scores %v, want %v", err, *r.OriginalScore, s)
	}
}

// edits is the distance between two texts, however large it is.
func edits(a, b string) int { return text.EditDistance(a, b, math.MaxInt) }
