package infill

import (
	"context"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"infill/infill/text"
	"infill/mlm"
	"infill/models"
	"infill/tokenize"
)

var defaultModel = sync.OnceValues(func() (*mlm.Model, error) {
	return mlm.Open(context.Background(), models.Default(), mlm.Options{Threads: 2, Forward: true})
})

func openDefault(t testing.TB) *mlm.Model {
	t.Helper()
	m, err := defaultModel()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The models of the program keep a sensible word among their first ten for blanks that
// are easy. The sentences are such as the shipped weights solve; a model that
// replaces them must not be worse at what anybody would try first.
func TestEasyBlanks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"small", "default"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			easyBlanks(t, name)
		})
	}
}

func easyBlanks(t *testing.T, name string) {
	ctx := context.Background()
	m := openSmall(t)
	if name == "default" {
		m = openDefault(t)
	}
	tok := m.Tokenizer()
	begin := text.BoundaryOf(tok).Sort().First[text.VocabAll][tokenize.AfterSpace]
	for _, c := range []struct{ text, sensible string }{
		{"she opened the [MASK] and walked in.", "door"},
		{"once upon a [MASK] there lived an old man.", "time"},
		{"she drank a cup of [MASK].", "tea coffee water milk wine"},
		{"thank [MASK] very much.", "you"},
		{"he sat down on the [MASK].", "floor bed chair couch bench sofa table grass ground"},
		{"the [MASK] barked at the cat.", "dog dogs"},
		{"it was the first [MASK] I had ever seen.", "time thing one man woman"},
		{"they have two [MASK] and a daughter.", "sons children daughters boys"},
		{"the united [MASK] of america.", "states"},
		{"paris is the capital of [MASK].", "france"},
		{"he was [MASK] in 1950 in london.", "born"},
		{"she has been a member [MASK] the party since then.", "of"},
	} {
		tm, err := text.Parse(tok, c.text)
		if err != nil {
			t.Fatal(err)
		}
		out := zeros[float32](1, m.VocabSize())
		if err := m.Independent(ctx, &mlm.Sentence{IDs: tm.IDs, Blanks: tm.Positions()}, out); err != nil {
			t.Fatal(err)
		}
		ids := slices.Clone(begin)
		sort.SliceStable(ids, func(a, b int) bool { return out[0][ids[a]] > out[0][ids[b]] })
		var top []string
		for _, id := range ids[:10] {
			top = append(top, tok.Token(id))
		}
		if !slices.ContainsFunc(
			strings.Fields(c.sensible), func(w string) bool { return slices.Contains(top, w) },
		) {
			t.Errorf("%q: none of %q among %q", c.text, c.sensible, top)
		}
	}
}
