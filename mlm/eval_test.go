package mlm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"infill/tokenize"
	"infill/tokenize/tokenizetest"
)

// unigram is a model that predicts every blank by the same distribution, so
// that every figure of an evaluation is known in closed form.
type unigram struct{ logp []float32 }

func (u unigram) run(_ context.Context, b *batch) error {
	for r := range b.rows {
		copy(b.wide[r*len(u.logp):], u.logp)
	}
	return nil
}

func (unigram) bounds() bounds { return bounds{} }

func (unigram) close() error { return nil }

func evalModel(t *testing.T, logp []float32, words []string) *Model {
	t.Helper()
	tok := tokenizetest.Of(t, false, append([]string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"},
		words...)...)
	be := unigram{logp}
	m := &Model{tok: tok, be: be, info: facts{Info: Info{Vocab: len(logp), MaxLength: 12,
		MaskID: tok.MaskID()}}}
	m.sched = newScheduler(be, 2, bounds{batch: 64}, &m.info)
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func TestEvalClosedForm(t *testing.T) {
	t.Parallel()
	words := []string{"a", "b", "c", "d", "e", "f", "g"}
	p := []float64{0, 0, 0, 0, 0, .3, .2, .15, .12, .1, .08, .05}
	logp := make([]float32, len(p))
	for i, x := range p {
		logp[i] = float32(math.Log(x))
	}
	m := evalModel(t, logp, words)
	// a×4 b×3 c×2 d e f g: the model's first is a, its first five are a to e.
	text := "a b c d\na b c e f\n\n   \na b a g\n" + strings.Repeat("a ", 11) + "\n"
	r, err := m.Eval(context.Background(), strings.NewReader(text), EvalOptions{Rate: 1, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[int]int{5: 4, 6: 3, 7: 2, 8: 1, 9: 1, 10: 1, 11: 1}
	nll, n := 0.0, 0
	for id, c := range counts {
		nll -= float64(c) * float64(logp[id])
		n += c
	}
	want := math.Exp(nll / float64(n))
	if r.Masked != 13 || r.Lines != 3 || r.Pieces != 13 || r.Empty != 2 || r.TooLong != 1 {
		t.Errorf("counts: %+v", r)
	}
	if r.Top1 != 4./13 || r.Top5 != 11./13 || math.Abs(r.Perplexity-want) > 1e-12 {
		t.Errorf("top-1 %v, top-5 %v, perplexity %v (want %v)", r.Top1, r.Top5, r.Perplexity, want)
	}
	if len(r.Bands) != 1 || r.Bands[0].Masked != 13 || r.Bands[0].FromRank != 1 ||
		r.Bands[0].ToRank != 100 {
		t.Errorf("bands: %+v", r.Bands)
	}
	if r, err := m.Eval(context.Background(), strings.NewReader(text),
		EvalOptions{Rate: 1, MaxLines: 1}); err != nil || r.Masked != 4 {
		t.Errorf("one line: %+v, %v", r, err)
	}
}

// The lines in work are few where they are long, and it changes nothing: each piece that is predicted
// in them has a vector of the vocabulary.
func TestEvalBoundsPieces(t *testing.T) {
	t.Parallel()
	logp := []float32{-9, -9, -9, -9, -9, -.7, -.9}
	m := evalModel(t, logp, []string{"a", "b"})
	m.info.MaxLength = 600
	long, short := strings.Repeat("a b ", 250)+"\n", "a b\n"
	for _, c := range []struct {
		text string
		rate float64
		want []int
	}{
		{strings.Repeat(long, 11), 1, []int{5, 10, 11}},
		{strings.Repeat(long, 50), .1, []int{41, 50}},
		{strings.Repeat(short, 130), 1, []int{64, 128, 130}},
	} {
		var got []int
		r, err := m.Eval(context.Background(), strings.NewReader(c.text), EvalOptions{Rate: c.rate,
			Progress: func(lines int) { got = append(got, lines) }})
		if err != nil {
			t.Fatal(err)
		}
		n := strings.Count(c.text, "\n")
		each := max(1, int(math.Round(c.rate*float64(len(strings.Fields(c.text))/n))))
		if !slices.Equal(got, c.want) || r.Lines != n || r.Masked != n*each {
			t.Errorf("%d lines, rate %v: done %v, want %v; %d lines, %d pieces", n, c.rate, got, c.want,
				r.Lines, r.Masked)
		}
	}
}

// The share of masked pieces is as asked, and the choice depends on the seed
// and the line only.
func TestEvalMasksFifteenPercent(t *testing.T) {
	t.Parallel()
	places := make([]int, 40)
	for i := range places {
		places[i] = i + 1
	}
	seen := make([]int, 42)
	for n := range 4000 {
		c := choose(places, 0.15, 9, n)
		if len(c) != 6 || !slices.IsSorted(c) || len(slices.Compact(slices.Clone(c))) != 6 {
			t.Fatalf("line %d: %v", n, c)
		}
		if !slices.Equal(c, choose(places, 0.15, 9, n)) {
			t.Fatal("the choice is not reproducible")
		}
		for _, p := range c {
			seen[p]++
		}
	}
	// Each place is chosen with probability 0.15: 600 ± 5 standard deviations.
	for p, k := range seen[1:41] {
		if math.Abs(float64(k)-600) > 5*math.Sqrt(4000*.15*.85) {
			t.Errorf("place %d was chosen %d times, expected about 600", p+1, k)
		}
	}
	if c := choose(places[:2], 0.15, 9, 1); len(c) != 1 {
		t.Errorf("a short line has %d masks", len(c))
	}
	if slices.Equal(choose(places, 0.15, 9, 1), choose(places, 0.15, 10, 1)) &&
		slices.Equal(choose(places, 0.15, 9, 2), choose(places, 0.15, 10, 2)) {
		t.Error("the seed does not matter")
	}
}

func TestEvalBands(t *testing.T) {
	t.Parallel()
	r := &evalReport{}
	tallies := make([]tally, 6000)
	for i := range tallies {
		tallies[i] = tally{seen: 6000 - i, masked: 1, nll: 1}
		if i < 100 || i >= 5000 {
			tallies[i].top1 = 1
		}
	}
	slices.Reverse(tallies) // the order of ids is not that of frequency
	r.summarise(tallies)
	var got []string
	for _, b := range r.Bands {
		got = append(got, fmt.Sprint(b.FromRank, b.ToRank, b.Masked, b.Top1))
	}
	if want := []string{"1 100 100 1", "101 1000 900 0", "1001 5000 4000 0",
		"5001 0 1000 1"}; !slices.Equal(got, want) {
		t.Errorf("bands %v, want %v", got, want)
	}
	if r.Masked != 6000 || math.Abs(r.Perplexity-math.E) > 1e-12 {
		t.Errorf("total %+v", r.Accuracy)
	}
}

func TestEvalErrors(t *testing.T) {
	t.Parallel()
	logp := make([]float32, 8)
	m := evalModel(t, logp, []string{"a", "b", "c"})
	ctx := context.Background()
	for _, rate := range []float64{-.1, 1.1, math.NaN(), math.Inf(1)} {
		if _, err := m.Eval(ctx, strings.NewReader("a"), EvalOptions{Rate: rate}); !errors.Is(err,
			ErrOption) {
			t.Errorf("rate %v: %v", rate, err)
		}
	}
	if _, err := m.Eval(ctx, strings.NewReader("a"), EvalOptions{MaxLines: -1}); !errors.Is(err,
		ErrOption) {
		t.Errorf("-1 lines: %v", err)
	}
	if _, err := m.Eval(ctx, strings.NewReader("a\nb \xff"), EvalOptions{}); !errors.Is(err,
		tokenize.ErrInvalidUTF8) || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("invalid UTF-8: %v", err)
	}
	if _, err := m.Eval(ctx, strings.NewReader("a\n"+strings.Repeat("b", maxLine+1)),
		EvalOptions{}); !errors.Is(err, tokenize.ErrTooLarge) ||
		!strings.Contains(err.Error(), "line 2 is longer") {
		t.Errorf("long line: %v", err)
	}
	logp[5] = float32(math.NaN())
	if _, err := m.Eval(ctx, strings.NewReader("b\na"), EvalOptions{}); !errors.Is(err,
		ErrNotFinite) || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("NaN: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := m.Eval(cancelled, strings.NewReader("a"), EvalOptions{}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A text that gives nothing to predict has no perplexity.
func TestEvalOfNothing(t *testing.T) {
	t.Parallel()
	m := evalModel(t, make([]float32, 6), []string{"a"})
	for _, text := range []string{"", "\n \n", strings.Repeat("a ", 11) + "\n"} {
		if r, err := m.Eval(context.Background(), strings.NewReader(text), EvalOptions{}); !errors.Is(err,
			ErrNoPieces) || r != nil {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
}
