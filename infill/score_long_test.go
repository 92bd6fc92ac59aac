package infill

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"infill/infill/internal/target"
	"infill/infill/text"
	"infill/mlm"
)

// Every piece of a text longer than the model takes is scored in the window that has the most
// context on both sides: the whole text is masked for each term, and the window cut out of it.
func TestScoreLong(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tok, limit := e.Tokenizer(), e.model.MaxLength()
	word := []string{"the", "big", "dogs", "saw", "a", "small", "cat", "near", "the", "house", "."}
	long := func(n int) string {
		var words []string
		for i := 0; len(words) < n; i++ {
			words = append(words, word[(i*i+i/7)%len(word)])
		}
		return strings.Join(words, " ")
	}
	sentence := long(2 * limit)
	enc, err := text.Encode(tok, sentence, nil)
	if err != nil || len(enc.IDs) < 2*limit {
		t.Fatal(len(enc.IDs), err)
	}
	positions := make([]int, len(enc.IDs)-2)
	for i := range positions {
		positions[i] = i + 1
	}
	for _, by := range []Scoring{ScorePLL, ScoreWithinWord, ScoreBlended} {
		terms := target.ScoreTerms(len(positions), by)
		if by == ScoreWithinWord {
			terms = withinWord(wordNumbers(positions, enc.Continuation))
		}
		got, err := e.Score(t.Context(), sentence, ScoreOptions{By: by})
		if err != nil {
			t.Fatal(err)
		}
		if want := len(enc.IDs) - limit + 1; got.Windows != want {
			t.Errorf("%v: %d windows, want %d", by, got.Windows, want)
		}
		sums, total := make([]float64, len(positions)), 0.0
		for i, term := range terms {
			if by == ScoreBlended && i%11 != 0 && term.At != limit {
				continue // a part of them will do
			}
			ids := term.Masked(enc.IDs[1:len(enc.IDs)-1], tok.MaskID())
			from := 0
			for right := limit - 2; right < len(ids) && term.At-from > right-1-term.At; right++ {
				from++ // until as many are on both sides, or the text ends
			}
			s := &mlm.Sentence{Blanks: []int{term.At - from + 1},
				IDs: slices.Concat(enc.IDs[:1], ids[from:from+limit-2], enc.IDs[len(enc.IDs)-1:])}
			lp := [][]float32{{0}}
			if err := e.model.LogProb(t.Context(), s, [][]int32{{ids[term.At]}}, lp); err != nil {
				t.Fatal(err)
			}
			sums[term.At] += term.Weight(by) * float64(lp[0][0])
			total += term.Weight(by) * float64(lp[0][0])
		}
		for p, sum := range sums {
			if by == ScoreBlended && p != limit {
				continue
			}
			if math.Abs(got.Pieces[p].LogProb-sum) > 1e-4 {
				t.Errorf("%v: piece %d has %v, want %v", by, p, got.Pieces[p].LogProb, sum)
			}
		}
		if by != ScoreBlended && math.Abs(total-got.Score) > 1e-2 {
			t.Errorf("%v: %v, want %v", by, got.Score, total)
		}
	}
	for n, windows := range map[int]int{limit - 2: 0, limit - 1: 2, limit: 3} {
		s, err := e.Score(t.Context(), strings.Join(strings.Fields(strings.Repeat("dog ", n)), " "), ScoreOptions{By: ScorePLL})
		if err != nil || s.Windows != windows {
			t.Errorf("%d pieces: %+v, %v", n, s, err)
		}
	}
	var refused *LengthError
	_, err = e.Score(t.Context(), sentence, ScoreOptions{By: ScorePLL, RefuseLong: true})
	if !errors.As(err, &refused) || refused.Limit != limit {
		t.Errorf("%v", err)
	}
	if _, err := e.ScoreSpans(t.Context(), sentence, [][2]int{{0, 3}}, ScorePLL); !errors.Is(err, mlm.ErrTooLong) {
		t.Errorf("%v", err)
	}
}
