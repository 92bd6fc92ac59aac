package infill

import (
	"errors"
	"testing"

	"infill/infill/text"
)

// A word's rank and probability are those among all words, however far down the list.
func TestRankOfWords(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	tm, err := text.Parse(openSmall(t).Tokenizer(), "Paris is the capital of [MASK].")
	if err != nil {
		t.Fatal(err)
	}
	all, err := e.Fill(t.Context(), tm, Options{Results: ResultOptions{All: true}})
	if err != nil || len(all.Fillings) < 20_000 {
		t.Fatal(len(all.Fillings), err)
	}
	at := []int{0, 1, 9, 10_500, len(all.Fillings) - 1}
	var words []string
	for _, i := range at {
		words = append(words, all.Fillings[i].Tokens[0])
	}
	r, err := e.Fill(t.Context(), tm, Options{Results: ResultOptions{Rank: words}})
	if err != nil || len(r.Ranks) != len(at) || len(r.Fillings) != 5 {
		t.Fatal(r, err)
	}
	for k, i := range at {
		want := WordRank{Word: words[k], Rank: i + 1, Of: len(all.Fillings), Probability: all.Fillings[i].Probability}
		if r.Ranks[k] != want {
			t.Errorf("%+v, want %+v", r.Ranks[k], want)
		}
	}
	for _, c := range []struct{ line, word string }{{"Paris is [MASK].", "souvenirx"}, {"[MASK] is [MASK].", "a"},
		{"Paris is [MASK*1-2].", "a"}} {
		tm, err := text.Parse(openSmall(t).Tokenizer(), c.line)
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Fill(t.Context(), tm, Options{Results: ResultOptions{Rank: []string{c.word}}})
		if !errors.Is(err, text.ErrOption) {
			t.Errorf("%s, %s: %v", c.line, c.word, err)
		}
	}
}
