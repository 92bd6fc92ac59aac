package infill

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"infill/infill/text"
)

// A literal mask is read character by character when it is filled around and
// when it is scored.
func TestLiteralMask(t *testing.T) {
	t.Parallel()
	m := openSmall(t)
	e := New(m)
	tm, err := text.Parse(m.Tokenizer(), `We write \[MASK] for a [MASK], or \___.`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Fill(context.Background(), tm, Options{Sampling: SamplingOptions{Steps: 3, Chains: 4},
		Seed: 1, Results: ResultOptions{Score: ScorePLL}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Fillings {
		if !strings.HasPrefix(f.Text, "We write [MASK] for a ") ||
			!strings.HasSuffix(f.Text, ", or ___.") {
			t.Errorf("%q", f.Text)
		}
		s, err := e.ScoreSpans(context.Background(), f.Text, f.Spans, ScorePLL)
		if err != nil || math.Abs(s.Score-f.Score) > 1e-3 {
			t.Errorf("%q: filled with score %v, scored %+v (%v)", f.Text, f.Score, s, err)
		}
	}
	s, err := e.Score(context.Background(), `We write \[MASK] here.`, ScoreOptions{By: ScorePLL})
	if err != nil || s.Text != "We write [MASK] here." || len(s.Pieces) != 7 {
		t.Errorf("%+v, %v", s, err)
	}
	taken, words, err := text.Masking{Words: 1}.Template(m.Tokenizer(), `A \___ b`, 1, "")
	if err != nil || len(taken.Blanks) != 1 || len(words) != 1 ||
		!strings.Contains(taken.Text, "___") {
		t.Errorf("%+v, %q, %v", taken, words, err)
	}
}

// A span between the pieces of a text is refused as a span. The text itself is not empty.
func TestSpansWithoutAPiece(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	for _, spans := range [][][2]int{nil, {}, {{3, 4}}, {{2, 2}}} {
		_, err := e.ScoreSpans(t.Context(), "the dog sleeps .", spans, ScorePLL)
		if !errors.Is(err, text.ErrSpan) || errors.Is(err, text.ErrEmpty) || !strings.Contains(err.Error(), "give") {
			t.Errorf("%v: %v", spans, err)
		}
	}
}
