package infill

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"infill/infill/text"
)

// Scores agree with torch, computed once by testdata/make_scores.py.
func TestScoreAgainstTorch(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/scores.json")
	if err != nil {
		t.Fatal(err)
	}
	var want []struct {
		Text   string
		Score  float64
		Pieces []float64
	}
	if err := json.Unmarshal(b, &want); err != nil || len(want) < 5 {
		t.Fatalf("%d cases, %v", len(want), err)
	}
	e := New(tiny(t))
	for _, w := range want {
		s, err := e.Score(context.Background(), w.Text, ScoreOptions{By: ScorePLL})
		if err != nil {
			t.Fatalf("%q: %v", w.Text, err)
		}
		if math.Abs(s.Score-w.Score) > 1e-4 || len(s.Pieces) != len(w.Pieces) {
			t.Errorf(
				"%q: %d pieces score %v, torch says %d pieces and %v", w.Text, len(s.Pieces), s.Score,
				len(w.Pieces), w.Score,
			)
			continue
		}
		for i, p := range s.Pieces {
			if math.Abs(p.LogProb-w.Pieces[i]) > 1e-4 {
				t.Errorf("%q: piece %s has %v, torch says %v", w.Text, p.Piece, p.LogProb, w.Pieces[i])
			}
		}
	}
}

func TestScoreErrors(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	for text, is := range map[string]error{
		"":                    text.ErrEmpty,
		" \n":                 text.ErrEmpty,
		"[CLS] [SEP]":         text.ErrEmpty,
		"the [MASK] sleeps .": text.ErrBlank,
		"the ___ sleeps .":    text.ErrBlank,
	} {
		if _, err := e.Score(context.Background(), text, ScoreOptions{By: ScorePLL}); !errors.Is(err, is) {
			t.Errorf("%q: %v, want %v", text, err, is)
		}
	}
}

// The score of the filled spans is the U that sampling reports; spans that cut a
// piece take the whole of it.
func TestScoreSpans(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e := New(tiny(t))
	tm, err := text.Parse(e.model.Tokenizer(), "the [MASK*2] sleeps in the [MASK] .")
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Fill(ctx, tm,
		Options{Sampling: SamplingOptions{Chains: 8, Steps: 5}, Results: ResultOptions{Score: ScorePLL}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Fillings {
		s, err := e.ScoreSpans(ctx, f.Text, f.Spans, ScorePLL)
		if err != nil || math.Abs(s.Score-f.Score) > 1e-4 || len(s.Pieces) != len(f.IDs) {
			t.Errorf("%q: %+v, %v; want %v", f.Text, s, err, f.Score)
		}
	}
	line := "the dogs sleeps ."
	all, err := e.Score(ctx, line, ScoreOptions{By: ScorePLL})
	if err != nil {
		t.Fatal(err)
	}
	for span, want := range map[[2]int][]int{{4, 8}: {1, 2}, {5, 6}: {1}, {7, 9}: {2}, {4, 10}: {1, 2, 3}} {
		s, err := e.ScoreSpans(ctx, line, [][2]int{span}, ScorePLL)
		if err != nil || len(s.Pieces) != len(want) {
			t.Fatalf("%v: %+v, %v", span, s, err)
		}
		for i, p := range s.Pieces {
			if p.Span != all.Pieces[want[i]].Span {
				t.Errorf("%v: piece %d is %+v", span, i, p)
			}
		}
	}
	for _, c := range []struct {
		line string
		span [2]int
		is   error
	}{
		{line, [2]int{-1, 2}, text.ErrSpan}, {line, [2]int{3, 2}, text.ErrSpan}, {line, [2]int{3, 99}, text.ErrSpan},
		{line, [2]int{3, 4}, text.ErrSpan}, {"", [2]int{0, 0}, text.ErrEmpty},
	} {
		if _, err := e.ScoreSpans(ctx, c.line, [][2]int{c.span}, ScorePLL); !errors.Is(err, c.is) {
			t.Errorf("%q %v: %v, want %v", c.line, c.span, err, c.is)
		}
	}
}
