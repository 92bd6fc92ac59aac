package variants

import (
	"infill/infill"
	"infill/infill/text"
	"infill/mlm"

	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
)

// texts are the texts of variants.
func texts(list []Variant) []string {
	var out []string
	for _, v := range list {
		out = append(out, v.Text)
	}
	return out
}

func TestRounds(t *testing.T) {
	t.Parallel()
	e := infill.New(tiny(t))
	ctx := context.Background()
	const line = "The big dog\tsleeps in the old house."
	m := text.Masking{Rate: 0.5, Class: text.ClassContent}
	opt := infill.Options{Sampling: infill.SamplingOptions{Chains: 4, Steps: 4}, Seed: 5, ID: "7",
		Words:   infill.WordOptions{Filter: infill.Filter{MinEdits: 1}},
		Results: infill.ResultOptions{Score: infill.ScorePLL}}
	want := Options{Count: 6, PerMasking: 2, ExtraRounds: 2}
	r := New(e, line, m, opt, want)
	found, made, err := r.Find(ctx, nil)
	if err != nil || len(found) != 6 || made < 3 {
		t.Fatalf("%v: %d variants of %d rounds", err, len(found), made)
	}
	seen := map[string]bool{strings.ToLower(line): true}
	for _, v := range found {
		if seen[strings.ToLower(v.Text)] {
			t.Errorf("%q again", v.Text)
		}
		seen[strings.ToLower(v.Text)] = true
		// Nothing but the masked words changed.
		at, from := 0, 0
		for i, p := range v.Places {
			if line[p[0]:p[1]] != v.Masked[i] || line[from:p[0]] != v.Text[at:v.Spans[i][0]] {
				t.Errorf("%q of %q", v.Text, v.Blanked)
			}
			from, at = p[1], v.Spans[i][1]
		}
		if line[from:] != v.Text[at:] || v.Edits != text.EditDistance(v.Text, line, math.MaxInt) {
			t.Errorf("%q of %q, %d edits", v.Text, v.Blanked, v.Edits)
		}
		s, err := e.ScoreSpans(ctx, v.Text, v.Spans, infill.ScorePLL)
		if d := s.Score - v.Score; err != nil || !v.Recut && (d > 1e-3 || d < -1e-3) {
			t.Errorf("%q scores %v, want %v: %v", v.Text, v.Score, s.Score, err)
		}
	}
	// What is taken is replaced, whatever was found before.
	taken := func(s string) bool { return s == found[0].Text || s == found[3].Text }
	again, _, err := r.Find(ctx, taken)
	fresh, _, err2 := New(infill.New(tiny(t)), line, m, opt, want).Find(ctx, taken)
	if err != nil || err2 != nil || !reflect.DeepEqual(texts(again), texts(fresh)) || len(again) != 6 {
		t.Errorf("%v, %v: %q, by itself %q", err, err2, texts(again), texts(fresh))
	}
	for _, v := range again {
		if taken(v.Text) {
			t.Errorf("%q is taken", v.Text)
		}
	}
	_, made, err = r.Find(ctx, func(string) bool { return true })
	if !errors.Is(err, infill.ErrFiltered) || made != want.rounds() {
		t.Errorf("all are taken: %v after %d rounds", err, made)
	}
}

// One word to mask: every round masks the same, and is computed.
func TestRoundsOfOneWord(t *testing.T) {
	t.Parallel()
	e := infill.New(tiny(t))
	opt := infill.Options{Words: infill.WordOptions{Filter: infill.Filter{MinEdits: 1}}}
	m := text.Masking{Rate: 1, Keep: wordSet(t, "the", "sleeps")}
	for _, want := range []Options{{Count: 4, PerMasking: 1}, {Count: 4},
		{Count: 4, PerMasking: 3, ExtraRounds: 1}} {
		found, made, err := New(e, "the dog sleeps", m, opt, want).Find(context.Background(), nil)
		if err != nil || len(found) != 4 || made > want.rounds() {
			t.Errorf("%+v: %v, %q in %d rounds", want, err, texts(found), made)
		}
		for i, v := range found {
			if i > 0 && v.Round == found[i-1].Round && v.Score > found[i-1].Score {
				t.Errorf("%q is better than the one before", v.Text)
			}
		}
	}
	// All rounds are too few.
	opt.Words.Allow, _ = text.NewWordList(e.Tokenizer(), []string{"cat", "dog", "bird"})
	found, made, err := New(e, "the dog sleeps", m, opt,
		Options{Count: 4, PerMasking: 1, ExtraRounds: 3}).Find(context.Background(), nil)
	if err != nil || made != 7 || len(found) == 0 || len(found) > 2 {
		t.Errorf("%v: %q in %d rounds", err, texts(found), made)
	}
	for _, v := range []Options{{}, {Count: Max + 1}, {Count: 1, PerMasking: -1},
		{Count: 1, ExtraRounds: -1}} {
		if _, _, err := New(e, "the dog", m, opt, v).Find(context.Background(),
			nil); !errors.Is(err, text.ErrOption) {
			t.Errorf("%+v: %v", v, err)
		}
	}
	_, _, err = New(e, "the dog", text.Masking{Rate: 1, Keep: wordSet(t, "the", "dog")}, opt,
		Options{Count: 1}).Find(context.Background(), nil)
	if !errors.Is(err, text.ErrFewWords) {
		t.Errorf("nothing may be masked: %v", err)
	}
}

func wordSet(t *testing.T, words ...string) *text.WordSet {
	t.Helper()
	s, err := text.NewWordSet(words)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var tinyModel = sync.OnceValues(func() (*mlm.Model, error) {
	return mlm.OpenDir(context.Background(), "../../mlm/testdata/tiny-bert", mlm.Options{Threads: 2})
})

func tiny(t *testing.T) *mlm.Model {
	t.Helper()
	m, err := tinyModel()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What Go lets a caller pass by mistake is an error.
func TestMissingArguments(t *testing.T) {
	t.Parallel()
	var none context.Context
	m, want := text.Masking{Words: 1}, Options{Count: 1}
	for name, find := range map[string]func() error{
		"no context": func() error {
			_, _, err := New(infill.New(tiny(t)), "the cat sat", m, infill.Options{}, want).Find(none, nil)
			return err
		},
		"no engine": func() error {
			_, _, err := New(nil, "the cat sat", m, infill.Options{}, want).Find(t.Context(), nil)
			return err
		},
	} {
		if err := find(); !errors.Is(err, text.ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
