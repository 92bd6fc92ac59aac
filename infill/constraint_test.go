package infill

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"infill/infill/text"
	"infill/mlm"
	"infill/tokenize/tokenizetest"
)

// list prepares words or fails the test.
func list(t *testing.T, words ...string) *text.WordList {
	t.Helper()
	l, err := text.NewWordList(tokenizetest.Tiny(t), words)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Every way to leave a blank without a filling is an error that names it.
func TestEmptySupports(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	for _, c := range []struct {
		text, blank string
		opt         Options
	}{
		{"the [MASK] and the [MASK/^q/] .", "blank 2, [MASK/^q/]", Options{}},
		{"the [MASK|red] .", "blank 1", Options{Words: WordOptions{Ban: list(t, "red")}}},
		{"the [MASK|red] .", "blank 1", Options{Words: WordOptions{Allow: list(t, "green", "dog")}}},
		{"the [MASK|big dog] .", "blank 1", Options{Words: WordOptions{Ban: list(t, "big dog")}}},
		{"the [MASK*3|red|big dog] .", "blank 1", Options{}},
		{"a [MASK] the [MASK*2] .", "blank 2",
			Options{Words: WordOptions{Allow: list(t, "red", "small")}}},
		{"the [MASK] .", "blank 1", Options{Words: WordOptions{Allow: list(t, "red", "small"),
			MinDistance: 6, Original: []string{"bed"}}}},
		{"the [MASK/^(dog|cat)$/] .", "blank 1", Options{Words: WordOptions{Ban: list(t, "dog", "cat")}}},
		{"the [MASK|red] and [MASK|red] .", "blank 2", Options{Words: WordOptions{NoRepeat: text.RepeatText}}},
		{"[MASK/^(dog|cat)$/] [MASK/^(dog|cat)$/] [MASK/^(dog|cat)$/]", "blank 3",
			Options{Words: WordOptions{NoRepeat: text.RepeatText}}},
		{"the [MASK*3/^(dog|cat)$/] .", "blank 1", Options{Words: WordOptions{NoRepeat: text.RepeatText}}},
		{"the [MASK*2/^dog$/] .", "blank 1", Options{Words: WordOptions{Ban: list(t, "dog")}}},
		{"the [MASK:a|dog] run[MASK:a] .", "blank 2", Options{}},
		{"run[MASK|ing|s] .", "blank 1",
			Options{Words: WordOptions{Ban: list(t, "dog"), Allow: list(t, "cat")}}},
	} {
		tm, err := text.Parse(e.model.Tokenizer(), c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		c.opt.Sampling.Steps, c.opt.Sampling.Chains = 1, 2
		_, err = e.Fill(context.Background(), tm, c.opt)
		var te *text.Error
		if !errors.Is(err, text.ErrEmptySupport) || !errors.As(err, &te) {
			t.Errorf("%s: error %v", c.text, err)
		} else if !strings.Contains(err.Error(), c.blank) {
			t.Errorf("%s: %q does not name %s", c.text, err, c.blank)
		}
	}
}

// Lengths that are left open come out equally often, whatever the energies.
func TestOpenLengths(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tm, err := text.Parse(e.model.Tokenizer(), "the [MASK*1-3] saw a [MASK*2-3] .")
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Sampling: SamplingOptions{Chains: 24, Steps: 2}, Seed: 9,
		Results: ResultOptions{All: true, Score: ScorePLL}}
	if err := opt.Prepare(); err != nil {
		t.Fatal(err)
	}
	marginal := [2]map[int]int{{}, {}}
	joint := map[[2]int]int{}
	for seed := range uint64(200) {
		opt.Seed = seed
		p, err := e.resolve(t.Context(), tm, &opt)
		if err != nil {
			t.Fatal(err)
		}
		first := [2]map[int]int{{}, {}}
		for _, pt := range p.Choices {
			for g, n := range pt.Target.Counts {
				marginal[g][n] += len(pt.Chains)
				first[g][n] += len(pt.Chains)
			}
			joint[[2]int{pt.Target.Counts[0], pt.Target.Counts[1]}] += len(pt.Chains)
		}
		if first[0][1] != 8 || first[0][3] != 8 || first[1][2] != 12 {
			t.Fatalf("seed %d: not stratified: %v", seed, first)
		}
	}
	var counts []int
	for _, n := range joint {
		counts = append(counts, n)
	}
	if len(counts) != 6 {
		t.Fatalf("joint lengths %v", joint)
	}
	// Independent and uniform: 800 each; the strata only lessen the scatter.
	for k, n := range joint {
		if math.Abs(float64(n)-800) > 5*math.Sqrt(800) {
			t.Errorf("lengths %v: %d times, expected 800", k, n)
		}
	}
	r, err := e.Fill(context.Background(), tm, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range r.Fillings {
		if i > 0 && f.ScorePerToken > r.Fillings[i-1].ScorePerToken {
			t.Error("not ranked by score per token")
		}
	}
}

// A long text is filled with what is near its blanks; the rest stays.
func TestWindow(t *testing.T) {
	t.Parallel()
	m := tiny(t)
	e := New(m)
	line := strings.Repeat(
		"a dog runs . ", 30,
	) + "the [MASK] sleeps ." + strings.Repeat(
		" a cat sees it .", 30,
	)
	tm, err := text.Parse(m.Tokenizer(), line)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Fill(context.Background(), tm,
		Options{Sampling: SamplingOptions{Chains: 3, Steps: 4}, Results: ResultOptions{Score: ScorePLL}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Window == nil || r.Window[0] == 0 || r.Window[1] == len(line) {
		t.Fatalf("window %v", r.Window)
	}
	before, after, _ := strings.Cut(line, "[MASK]")
	for _, f := range r.Fillings {
		if !strings.HasPrefix(f.Text, before) || !strings.HasSuffix(f.Text, after) {
			t.Errorf("%q", f.Text)
		}
	}
	if _, err := e.Fill(context.Background(), tm,
		Options{Sampling: SamplingOptions{Chains: 3, Steps: 4}, RefuseLong: true}); !errors.Is(
		err, mlm.ErrTooLong,
	) {
		t.Errorf("%v", err)
	}
}
