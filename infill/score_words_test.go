package infill

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"infill/infill/text"
	"infill/internal/ort/orttest"
	"infill/mlm"
)

// randomBERT is the model of testdata/make_words.py.
func randomBERT(t *testing.T) *Engine {
	t.Helper()
	orttest.Load(t)
	m, err := mlm.OpenDir(t.Context(), "testdata/random-bert", mlm.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return New(m)
}

// expectedWords reads what minicons and torch say.
func expectedWords(t *testing.T, to any) {
	t.Helper()
	b, err := os.ReadFile("testdata/words.json")
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Pieces and words of 100 texts have the scores that minicons gives them, by both of its metrics.
func TestWordsAgainstMinicons(t *testing.T) {
	t.Parallel()
	var want struct {
		Texts []struct {
			Text        string
			Pieces      []string
			Words       []int
			PLL, Within []float64
		}
	}
	expectedWords(t, &want)
	e := randomBERT(t)
	if len(want.Texts) != 100 {
		t.Fatalf("%d texts", len(want.Texts))
	}
	for _, w := range want.Texts {
		for _, by := range []Scoring{ScorePLL, ScoreWithinWord} {
			s, err := e.Score(t.Context(), w.Text, ScoreOptions{By: by, Words: true, Parts: true})
			if err != nil || len(s.Pieces) != len(w.Pieces) {
				t.Fatalf("%q: %v, %v", w.Text, s, err)
			}
			list := w.PLL
			if by == ScoreWithinWord {
				list = w.Within
			}
			sums, total := make([]float64, len(s.Words)), 0.0
			for i, p := range s.Pieces {
				if p.Piece != w.Pieces[i] || math.Abs(p.LogProb-list[i]) > 1e-4 {
					t.Errorf("%q, %v: piece %d: %s %v, want %s %v", w.Text, by, i, p.Piece, p.LogProb,
						w.Pieces[i], list[i])
				}
				sums[w.Words[i]] += w.Within[i]
				total += list[i]
			}
			if math.Abs(s.Score-total) > 1e-4*float64(len(s.Pieces)) {
				t.Errorf("%q, %v: %v, want %v", w.Text, by, s.Score, total)
			}
			if len(s.Words) != w.Words[len(w.Words)-1]+1 {
				t.Errorf("%q: %d words", w.Text, len(s.Words))
			}
			for k, word := range s.Words {
				if math.Abs(word.Score-sums[k]) > 1e-4*float64(len(word.Pieces)) {
					t.Errorf("%q: word %d: %v, want %v", w.Text, k, word, sums[k])
				}
			}
		}
	}
}

// A text that is cut into words keeps that cutting, also where the tokenizer has others.
func TestWordsAsCut(t *testing.T) {
	t.Parallel()
	var want struct {
		Cut []struct {
			Words  []string
			Scores []float64
		}
	}
	expectedWords(t, &want)
	e := randomBERT(t)
	several := 0
	for _, w := range want.Cut {
		line := strings.Join(w.Words, " ")
		var cut [][2]int
		for at, i := 0, 0; i < len(w.Words); i++ {
			cut = append(cut, [2]int{at, at + len(w.Words[i])})
			at += len(w.Words[i]) + 1
		}
		s, err := e.Score(t.Context(), line, ScoreOptions{By: ScorePLL, Words: true, Cut: cut,
			Regions: [][2]int{cut[1], {cut[0][0], cut[1][1]}}})
		if err != nil || len(s.Words) != len(cut) {
			t.Fatalf("%q: %v", line, err)
		}
		for k, word := range s.Words {
			if word.Span != cut[k] || math.Abs(word.Score-w.Scores[k]) > 1e-4*float64(len(word.Pieces)) {
				t.Errorf("%q: word %d: %v, want %v", line, k, word, w.Scores[k])
			}
		}
		if strings.Contains(line, "'") {
			several++
		}
		for i, sum := range []float64{w.Scores[1], w.Scores[0] + w.Scores[1]} {
			if math.Abs(s.Regions[i].Score-sum) > 2e-3 {
				t.Errorf("%q: region %d: %v, want %v", line, i, s.Regions[i], sum)
			}
		}
	}
	if several == 0 {
		t.Error("no word with an apostrophe")
	}
}

// A word of a cut that has no piece of its own has none, and a cut that is not of the text is an
// error.
func TestWordsOfOddCuts(t *testing.T) {
	t.Parallel()
	e := randomBERT(t)
	cut := [][2]int{{0, 2}, {2, 3}, {3, 4}} // cat: one piece over two words, and a space
	s, err := e.Score(t.Context(), "cat .", ScoreOptions{By: ScorePLL, Words: true, Cut: cut})
	if err != nil || len(s.Words) != 3 || len(s.Words[0].Pieces) != 1 || s.Words[1].Pieces != nil ||
		s.Words[2].Pieces != nil {
		t.Errorf("%+v, %v", s, err)
	}
	for _, o := range []ScoreOptions{{Cut: [][2]int{{3, 9}}}, {Regions: [][2]int{{-1, 2}}}} {
		if _, err := e.Score(t.Context(), "cat .", o); !errors.Is(err, text.ErrSpan) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := e.Score(t.Context(), `a \[MASK] .`, ScoreOptions{Cut: [][2]int{{0, 1}}}); !errors.Is(err, text.ErrSpan) {
		t.Errorf("escapes: %v", err)
	}
}

// The sums over the pieces that two texts share are those of the program of CrowS-Pairs, by difflib
// and torch.
func TestScoreShared(t *testing.T) {
	t.Parallel()
	var want struct {
		Pairs []struct {
			Pair   [2]string
			Shared [2]float64
			Pieces int
		}
	}
	expectedWords(t, &want)
	e := randomBERT(t)
	if len(want.Pairs) != 50 {
		t.Fatalf("%d pairs", len(want.Pairs))
	}
	for _, w := range want.Pairs {
		got, n, err := e.ScoreShared(t.Context(), w.Pair, ScorePLL)
		if err != nil || n != w.Pieces {
			t.Errorf("%q: %v, %d pieces, want %d", w.Pair, err, n, w.Pieces)
			continue
		}
		for i := range got {
			if math.Abs(got[i].Score-w.Shared[i]) > 1e-4*float64(len(got[i].Pieces)) {
				t.Errorf("%q, text %d: %v, want %v", w.Pair, i, got[i].Score, w.Shared[i])
			}
		}
	}
	if _, _, err := e.ScoreShared(t.Context(), [2]string{"a cat", "the dog"}, ScorePLL); !errors.Is(err, text.ErrEmpty) {
		t.Errorf("nothing in common: %v", err)
	}
	if _, _, err := e.ScoreShared(t.Context(), [2]string{"a cat", " "}, ScorePLL); !errors.Is(err, text.ErrEmpty) {
		t.Errorf("no text: %v", err)
	}
}

// Words with marks inside have one row: the sum of their parts, each piece masked with the later ones
// of the whole word. Marks at the ends have rows of their own.
func TestWordsAsWritten(t *testing.T) {
	t.Parallel()
	e := randomBERT(t)
	const line = `the cat's (cat-dog) at 10:30, a.b@c.org.`
	words := []string{"the", "cat's", "(", "cat-dog", ")", "at", "10:30", ",", "a.b@c.org", "."}
	s, err := e.Score(t.Context(), line, ScoreOptions{By: ScorePLL, Words: true})
	if err != nil || len(s.Words) != len(words) {
		t.Fatalf("%+v, %v", s, err)
	}
	cut := make([][2]int, len(words))
	for i, w := range s.Words {
		if got := line[w.Span[0]:w.Span[1]]; got != words[i] {
			t.Errorf("word %d: %s, want %s", i, got, words[i])
		}
		cut[i] = w.Span
	}
	want, err := e.Score(t.Context(), line, ScoreOptions{By: ScorePLL, Words: true, Cut: cut})
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range s.Words {
		if math.Abs(w.Score-want.Words[i].Score) > 1e-6 {
			t.Errorf("%s: %v, want %v", words[i], w.Score, want.Words[i].Score)
		}
	}
	dots, err := New(openSmall(t)).Score(t.Context(), "He left…", ScoreOptions{Words: true})
	if err != nil || len(dots.Words) != 3 {
		t.Errorf("an ellipsis: %+v, %v", dots, err)
	}
	parts, err := e.Score(t.Context(), line, ScoreOptions{By: ScorePLL, Words: true, Parts: true})
	if err != nil || len(parts.Words) <= len(words) {
		t.Errorf("%+v, %v", parts, err)
	}
}
