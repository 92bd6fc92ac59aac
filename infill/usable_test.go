package infill

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"infill/infill/text"
	"infill/mlm"
	"infill/tokenize"
	"infill/tokenize/tokenizetest"
)

// strange has the tokens of another vocabulary.
func strange(t *testing.T) *tokenize.Tokenizer {
	t.Helper()
	pieces := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "walk", "##ing"}
	return tokenizetest.Of(t, false, pieces...)
}

// What Go lets a caller pass by mistake is an error with a remedy, and no panic.
func TestMissingArgumentsAreErrors(t *testing.T) {
	m := tiny(t)
	e, tok := New(m), m.Tokenizer()
	ctx := t.Context()
	var none context.Context
	two, err := text.Parse(tok, "The [MASK] sat on the [MASK].")
	if err != nil {
		t.Fatal(err)
	}
	quick := Options{Sampling: SamplingOptions{Chains: 2, Steps: 2}}
	fill := func(ctx context.Context, e *Engine, tm *text.Template, o Options) func() error {
		return func() error {
			_, err := e.Fill(ctx, tm, o)
			return err
		}
	}
	for name, call := range map[string]func() error{
		"fill without a model":    fill(ctx, New(nil), two, quick),
		"fill of a zero engine":   fill(ctx, new(Engine), two, quick),
		"fill of a zero model":    fill(ctx, New(new(mlm.Model)), two, quick),
		"fill of a nil engine":    fill(ctx, nil, two, quick),
		"fill without a context":  fill(none, e, two, quick),
		"fill without a template": fill(ctx, e, nil, quick),
		"fill a zero template":    fill(ctx, e, new(text.Template), quick),
		"second model of nothing": fill(ctx, e, two,
			Options{Sampling: SamplingOptions{Chains: 2, Steps: 2},
				Words: WordOptions{Terms: []Weighted{{Term: NewSecondModel("second", nil), Weight: 1}}}}),
		"score without a model": func() error {
			_, err := New(nil).Score(ctx, "the cat", ScoreOptions{By: ScorePLL})
			return err
		},
		"score without a context": func() error {
			_, err := e.Score(none, "the cat", ScoreOptions{By: ScorePLL})
			return err
		},
		"score spans without a context": func() error {
			_, err := e.ScoreSpans(none, "the cat", [][2]int{{0, 3}}, ScorePLL)
			return err
		},
		"candidates without a template": func() error {
			_, err := e.Candidates(ctx, nil, []string{"cat"}, CandidateOptions{})
			return err
		},
		"candidates without a context": func() error {
			_, err := e.Candidates(none, two, []string{"cat"}, CandidateOptions{})
			return err
		},
		"parse without a tokenizer": func() error {
			_, err := text.Parse(nil, "a [MASK]")
			return err
		},
		"mask without a tokenizer": func() error {
			_, _, err := text.Masking{Words: 1}.Template(nil, "the cat", 1, "")
			return err
		},
		"words without a tokenizer": func() error {
			_, err := text.NewWordList(nil, []string{"cat"})
			return err
		},
		"bans without a tokenizer": func() error {
			_, _, err := text.NewBanList(nil, []string{"cat"})
			return err
		},
		"read starts without a tokenizer": func() error {
			line := `{"text":"a [MASK]","fillings":[{"tokens":["cat"]}]}`
			_, err := ReadStarts(nil, "", strings.NewReader(line))
			return err
		},
		"read words without a tokenizer": func() error {
			_, err := text.ReadWordList(nil, strings.NewReader("cat"))
			return err
		},
	} {
		if err := call(); !errors.Is(err, text.ErrOption) || !strings.Contains(err.Error(), "; ") {
			t.Errorf("%s: %v, want ErrOption with a remedy", name, err)
		}
	}
	for name, call := range map[string]func() error{
		"words": func() error { _, err := text.ReadWordList(tok, nil); return err },
		"texts": func() error { _, err := text.ReadWords(nil); return err },
		"set":   func() error { _, err := text.ReadWordSet(nil); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "strings.NewReader") {
			t.Errorf("%s from no reader: %v", name, err)
		}
	}
	if New(nil).Tokenizer() != nil {
		t.Error("an engine without a model has a tokenizer")
	}
}

// Ids of one vocabulary mean other words in another one.
func TestTokensOfAnotherModelAreRefused(t *testing.T) {
	m := tiny(t)
	e, alien := New(m), strange(t)
	their, err := text.Parse(alien, "walk [MASK]")
	if err != nil {
		t.Fatal(err)
	}
	words, err := text.NewWordList(alien, []string{"walk"})
	if err != nil {
		t.Fatal(err)
	}
	own, err := text.Parse(m.Tokenizer(), "The [MASK] sat.")
	if err != nil {
		t.Fatal(err)
	}
	// The same files read again have the same vocabulary.
	reread, err := tokenize.Load(os.DirFS(tinyFolder))
	if err != nil {
		t.Fatal(err)
	}
	again, err := text.Parse(reread, "The [MASK] sat.")
	if err != nil {
		t.Fatal(err)
	}
	_, theirs := e.Candidates(t.Context(), their, []string{"walk"}, CandidateOptions{})
	for name, err := range map[string]error{
		"template":   errOf(e.Fill(t.Context(), their, Options{})),
		"candidates": theirs,
		"allowed":    errOf(e.Fill(t.Context(), own, Options{Words: WordOptions{Allow: words}})),
		"banned":     errOf(e.Fill(t.Context(), own, Options{Words: WordOptions{Ban: words}})),
	} {
		if !errors.Is(err, text.ErrOption) || !strings.Contains(err.Error(), "Engine.Tokenizer") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for range 2 {
		if _, err := e.Fill(t.Context(), again, Options{}); err != nil {
			t.Error(err)
		}
	}
}

func errOf(_ *Result, err error) error { return err }

// A value of an option that does not exist was taken for one that does, or panicked.
func TestUnknownValuesOfOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"vocab below": {Words: WordOptions{Vocab: -1}}, "vocab above": {Words: WordOptions{Vocab: 3}},
		"gradient below": {Sampling: SamplingOptions{Gradient: -1}},
		"gradient above": {Sampling: SamplingOptions{Gradient: 2}},
	} {
		if err := o.Check(); !errors.Is(err, text.ErrOption) || !strings.Contains(err.Error(), "want ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Words that stood in some of the blanks only were taken for words of the first ones, or for none.
func TestOriginalWordsAreOneForEveryBlank(t *testing.T) {
	m := tiny(t)
	two, err := text.Parse(m.Tokenizer(), "The [MASK] sat on the [MASK].")
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"cat"}, {"cat", "mat", "hat"}} {
		_, err := New(m).Fill(t.Context(), two,
			Options{Words: WordOptions{Original: words, MinDistance: 1}})
		if !errors.Is(err, text.ErrOption) || !strings.Contains(err.Error(), "for 2 blanks") {
			t.Errorf("%d words: %v", len(words), err)
		}
	}
}

// The zero values of collections are empty ones.
func TestZeroCollections(t *testing.T) {
	var set text.WordSet
	two, err := text.NewWordSet([]string{"the", "of"})
	if err != nil {
		t.Fatal(err)
	}
	set.Add(two)
	set.Add(nil)
	if set.Len() != 2 {
		t.Errorf("%d words, want 2", set.Len())
	}
}

// An error that comes of a term's value names the term and not only the model.
func TestTermThatIsNotFiniteIsNamed(t *testing.T) {
	m := tiny(t)
	e := New(m)
	for _, line := range []string{"The [MASK] sat.", "The [MASK] sat on the [MASK]."} {
		for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			tm, err := text.Parse(m.Tokenizer(), line)
			if err != nil {
				t.Fatal(err)
			}
			terms := []Weighted{{Term: constant(x), Weight: 1}}
			_, err = e.Fill(t.Context(), tm, Options{Sampling: SamplingOptions{Chains: 2, Steps: 2},
				Method: MethodExact, Words: WordOptions{Terms: terms}})
			named := err != nil && strings.Contains(err.Error(), "part constant of the energy is "+
				fmt.Sprint(x))
			if !named || !errors.Is(err, mlm.ErrNotFinite) || strings.Contains(err.Error(), "start it") {
				t.Errorf("%s, %v: %v", line, x, err)
			}
		}
	}
	none := []Weighted{{Term: NewSecondModel("second", nil), Weight: 1}}
	two, err := text.Parse(m.Tokenizer(), "The [MASK] sat on the [MASK].")
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Fill(t.Context(), two,
		Options{Sampling: SamplingOptions{Chains: 2, Steps: 2}, Words: WordOptions{Terms: none}})
	if !errors.Is(err, text.ErrOption) || !strings.Contains(err.Error(), "pass it to NewSecondModel") {
		t.Errorf("no second model: %v", err)
	}
	tm, err := text.Parse(m.Tokenizer(), "The [MASK|cat|dog] sat.")
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Candidates(t.Context(), tm, nil,
		CandidateOptions{Terms: []Weighted{{Term: constant(math.NaN()), Weight: 1}}})
	if !errors.Is(err, mlm.ErrNotFinite) || !strings.Contains(err.Error(), "part constant") {
		t.Errorf("candidates: %v", err)
	}
}

// constant is a term with one value for all texts.
type constant float64

func (constant) Name() string { return "constant" }

func (constant) Rows() int { return 0 }

func (c constant) Values(_ context.Context, _ []Finished, v []float64) error {
	for k := range v {
		v[k] = float64(c)
	}
	return nil
}

// A term that panics does so in the caller's goroutine, however many parts the chains have, and
// leaves the engine as it was.
func TestTermThatPanics(t *testing.T) {
	m := openSmall(t)
	e := New(m)
	tm, err := text.Parse(m.Tokenizer(), "In the year of the great [MASK] the old [MASK] of the little town "+
		"sat down on the [MASK] and wept for a long time.")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		got := func() (value any) {
			defer func() { value = recover() }()
			_, err := e.Fill(t.Context(), tm, Options{Sampling: SamplingOptions{Steps: 1},
				Words: WordOptions{Terms: []Weighted{{Term: panics{}, Weight: 1}}}})
			return err
		}()
		if !strings.Contains(fmt.Sprint(got), "a fault of the term") {
			t.Fatalf("recovered %v", got)
		}
	}
	if _, err := e.Fill(t.Context(), tm,
		Options{Sampling: SamplingOptions{Chains: 2, Steps: 1}}); err != nil {
		t.Error(err)
	}
}

type panics struct{ constant }

func (panics) Values(context.Context, []Finished, []float64) error { panic("a fault of the term") }
