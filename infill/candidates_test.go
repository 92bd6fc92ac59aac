package infill

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"infill/infill/text"
)

// Candidates of different lengths score what the finished sentence says of
// their pieces, and are ranked by the sum or by the mean.
func TestCandidates(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	for i, line := range []string{"the [MASK] sleeps in the house .",
		"the [MASK:a] saw the [MASK:a] .", "a [MASK|dog|big dog|dogs|very old horse] in the house .",
		"a [MASK|dog|big dog|dogs|very old horse] in the house ."} {
		tm, err := text.Parse(e.model.Tokenizer(), line)
		if err != nil {
			t.Fatal(err)
		}
		words := []string{"dog", "big dog", "dogs", "very old horse"}
		if tm.Blanks[0].Words != nil {
			words = [][]string{nil, {}}[i%2] // those of the blank
		}
		for _, perToken := range []bool{false, true} {
			got, err := e.Candidates(context.Background(), tm, words, CandidateOptions{PerToken: perToken, Score: ScorePLL})
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 4 {
				t.Fatalf("%d candidates", len(got))
			}
			sum := 0.0
			for i, c := range got {
				w := make([]string, len(tm.Blanks))
				for j := range w {
					w[j] = c.Candidate
				}
				filled, spans := tm.Splice(w)
				u, n := oracle(t, e, filled, spans)
				if filled != c.Text || n != len(c.Tokens)*len(tm.Blanks) || math.Abs(u-c.Score) > 1e-4 ||
					math.Abs(u/float64(n)-c.ScorePerToken) > 1e-4 {
					t.Errorf("%+v, want %v of %d pieces", c, u, n)
				}
				if i > 0 &&
					(perToken && c.ScorePerToken > got[i-1].ScorePerToken || !perToken && c.Score > got[i-1].Score) {
					t.Errorf("%q is ranked too low", c.Candidate)
				}
				by := c.Score - got[0].Score
				if perToken {
					by = c.ScorePerToken - got[0].ScorePerToken
				}
				if math.Abs(c.Share/got[0].Share-math.Exp(by)) > 1e-9 {
					t.Errorf("share %v", c.Share)
				}
				sum += c.Share
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("shares sum to %v", sum)
			}
		}
	}
	for line, words := range map[string][]string{"a [MASK] and a [MASK] .": {"dog"}, "a [MASK] .": nil, "a [MASK] sleeps .": {"qqq"}} {
		tm, err := text.Parse(e.model.Tokenizer(), line)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Candidates(context.Background(), tm, words, CandidateOptions{}); !errors.Is(
			err, text.ErrBlank,
		) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// A list in a blank and candidates have one score and one share, also of different lengths.
func TestCandidatesAreAList(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	words := []string{"dog", "old friend", "very old friend", "cat"}
	for _, text := range []string{"My [MASK] went home.", "A [MASK:a] is a [MASK:a]."} {
		got, err := e.Candidates(t.Context(), parsed(t, e, text), words, CandidateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		list := strings.Replace(text, "]", "|"+strings.Join(words, "|")+"]", 1)
		r := exactFill(t, e, list, Options{Results: ResultOptions{All: true}})
		if len(r.Fillings) != len(got) || r.Lengths != "learned" {
			t.Fatalf("%+v, want %v", r, got)
		}
		for i, f := range r.Fillings {
			if c := got[i]; f.Text != c.Text || f.Score != c.Score || f.Parts.Length != c.Length ||
				math.Abs(f.Probability-c.Share) > 1e-12 || c.Length == 0 {
				t.Errorf("%q scores %v and %v, %v of all; as a candidate %+v", f.Text, f.Score, f.Parts.Length,
					f.Probability, c)
			}
		}
	}
}
