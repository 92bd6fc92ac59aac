package infill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"infill/infill/internal/chains"
	"infill/infill/text"
	"infill/internal/testmode"
	"infill/samplers"
)

// A marginalCase is a text whose states are few: every filling of the blanks that can be, by the
// lengths of its open blanks.
type marginalCase struct {
	name, text string
	opt        Options
	lengths    [][][]string // by combination of lengths: fillings of the blanks
}

var (
	who   = []string{"man", "woman", "boy", "girl", "king", "dog", "cat", "teacher", "soldier", "child", "doctor", "crowd"}
	where = []string{"house", "garden", "room", "door", "river", "window", "table", "road", "church", "car", "hall", "sea"}
)

func marginalCases() []marginalCase {
	cross := func(lists ...[]string) [][]string {
		out := [][]string{{}}
		for _, list := range lists {
			var next [][]string
			for _, o := range out {
				for _, w := range list {
					next = append(next, append(append([]string(nil), o...), w))
				}
			}
			out = next
		}
		return out
	}
	a, b := strings.Join(who, "|"), strings.Join(where, "|")
	pair := "The [MASK|" + a + "] went into the [MASK|" + b + "] again."
	adjectives := []string{"old", "big", "black", "young"}
	var two []string
	for _, x := range adjectives {
		for _, y := range adjectives {
			two = append(two, x+" "+y)
		}
	}
	var tied [][]string
	for _, s := range cross(who, where) {
		tied = append(tied, []string{s[0], s[1], s[0]})
	}
	return []marginalCase{
		{"two blanks", pair, Options{}, [][][]string{cross(who, where)}},
		{"hot", pair, Options{Sampling: SamplingOptions{Temperature: 2}},
			[][][]string{cross(who, where)}},
		{"cold, gradient", pair,
			Options{Sampling: SamplingOptions{Temperature: .7, Sampler: &samplers.DMALA{}}},
			[][][]string{cross(who, where)}},
		{"tied", "The [MASK:a|" + a + "] left the [MASK|" + b + "], and the [MASK:a] came back.", Options{},
			[][][]string{tied}},
		{"open length", "The [MASK*1-2/^(" + strings.Join(adjectives, "|") +
			")$/] dog went into the [MASK|house|garden|river].", Options{},
			[][][]string{
				cross(adjectives, []string{"house", "garden", "river"}),
				cross(two, []string{"house", "garden", "river"}),
			}},
	}
}

// weigh has, by combination of lengths, the text of every filling and its exp(U/T), by scoring it
// with Engine.Score, which shares no code with the samplers' target, and their sums.
func (c *marginalCase) weigh(t *testing.T, e *Engine) (texts [][]string, w [][]float64, sums []float64) {
	t.Helper()
	tm, err := text.Parse(e.Tokenizer(), c.text)
	if err != nil {
		t.Fatal(err)
	}
	sums = make([]float64, len(c.lengths))
	for i, states := range c.lengths {
		texts, w = append(texts, make([]string, len(states))), append(w, make([]float64, len(states)))
		for k, s := range states {
			text, spans := tm.Splice(slices.Clone(s))
			u, _ := oracle(t, e, text, spans)
			texts[i][k], w[i][k] = text, math.Exp(u/cmp.Or(c.opt.Sampling.Temperature, 1))
			sums[i] += w[i][k]
		}
	}
	return texts, w, sums
}

// truth has the probabilities of the words of each blank, and of the texts.
func (c *marginalCase) truth(t *testing.T, e *Engine) (blanks []map[string]float64, texts map[string]float64) {
	t.Helper()
	all, w, sums := c.weigh(t, e)
	texts = map[string]float64{}
	for range c.lengths[0][0] {
		blanks = append(blanks, map[string]float64{})
	}
	for i, states := range c.lengths {
		for k, s := range states {
			p := w[i][k] / sums[i] / float64(len(c.lengths))
			texts[all[i][k]] += p
			for b, word := range s {
				blanks[b][word] += p
			}
		}
	}
	return blanks, texts
}

// Exact marginals are of all states, as those of chains are: a filter and Top choose fillings.
func TestExactMarginalsKnowNoFilter(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	all := exactFill(t, e, "the [MASK] sleeps .",
		Options{Results: ResultOptions{Marginals: true, Top: 5}}).Marginals
	some := exactFill(t, e, "the [MASK] sleeps .",
		Options{Results: ResultOptions{Marginals: true, Top: 5},
			Words: WordOptions{Original: []string{all.Blanks[0].Likeliest[0].Text},
				Filter: Filter{MinEdits: 1}}}).Marginals
	for i, want := range all.Blanks[0].Likeliest {
		if got := some.Blanks[0].Likeliest[i]; got.Text != want.Text ||
			got.Probability != want.Probability {
			t.Errorf("%d: %+v with a filter, %+v without", i, got, want)
		}
	}
}

// The probabilities agree with an enumeration on a real model, and their standard errors are as
// large as their errors are: over seeds, blanks, words and texts the mean square of the errors in
// standard errors is near 1, and none is far out.
func TestMarginalsAreThoseOfEnumeration(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	seeds := 8
	if testmode.All() {
		seeds = 20
	}
	for _, c := range marginalCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			blanks, texts := c.truth(t, e)
			tm, err := text.Parse(e.Tokenizer(), c.text)
			if err != nil {
				t.Fatal(err)
			}
			sum, n := 0.0, 0
			for seed := range seeds {
				opt := c.opt
				opt.Results.Marginals, opt.Sampling.Steps, opt.Seed, opt.Results.Top = true, 200, uint64(seed),
					40
				const draws = 25 * 100
				if seed%2 == 1 { // nothing adapts
					opt.Sampling.Sampler = adapted(opt.Sampling.Sampler)
				}
				r, err := e.Fill(context.Background(), tm, opt)
				if err != nil {
					t.Fatal(err)
				}
				m := r.Marginals
				if m.Draws != draws || len(m.Blanks) != len(blanks) {
					t.Fatalf("%d draws of %d blanks", m.Draws, len(m.Blanks))
				}
				hold := func(what string, est Marginal, want map[string]float64) {
					if est.Distinct > len(want) {
						t.Errorf("%s: %d different of %d", what, est.Distinct, len(want))
					}
					total := est.Rest
					for _, x := range est.Likeliest {
						p, ok := want[x.Text]
						if !ok {
							t.Fatalf("%s: %q does not fit", what, x.Text)
						}
						total += x.Probability
						if p < .05 || p > .95 {
							continue
						}
						z := (x.Probability - p) / *x.Error
						if !(math.Abs(z) < 5) {
							t.Errorf("%s, seed %d: %q is %.4f ± %.4f, want %.4f",
								what, seed, x.Text, x.Probability, *x.Error, p)
						}
						sum += z * z
						n++
					}
					if math.Abs(total-1) > 1e-9 {
						t.Errorf("%s: the probabilities sum to %v", what, total)
					}
				}
				for b := range blanks {
					hold(fmt.Sprint("blank ", b+1), m.Blanks[b], blanks[b])
				}
				hold("texts", m.Fillings, texts)
			}
			t.Logf("mean square of z over %d: %.2f", n, sum/float64(n))
			if n < 5*seeds || !(sum/float64(n) > .5 && sum/float64(n) < 1.7) {
				t.Errorf("mean square of z over %d: %.2f", n, sum/float64(n))
			}
		})
	}
}

// adapted is a sampler with parameters in place of what it adapts.
func adapted(s samplers.Sampler) samplers.Sampler {
	if _, ok := s.(*samplers.DMALA); ok {
		return &samplers.DMALA{StepSize: 1.5}
	}
	return &samplers.Rows{Rate: 0.6}
}

// On a shortlist π covers its states only.
func TestMarginalsOfAShortlist(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e := New(openSmall(t))
	tm, err := text.Parse(e.Tokenizer(), "The old [MASK] sat down on the [MASK].")
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Sampling: SamplingOptions{Shortlist: 12, Steps: 300},
		Results: ResultOptions{Marginals: true, All: true}, Seed: 3}
	tgt := targetOf(t, e, tm, opt)
	if err := tgt.Restrict(ctx, 12); err != nil {
		t.Fatal(err)
	}
	x, texts := allStates(tgt)
	if len(x) != 144 {
		t.Fatalf("%d states", len(x))
	}
	u := make([]float64, len(x))
	if err := tgt.Evaluate(ctx, x, u); err != nil {
		t.Fatal(err)
	}
	want, sum := map[string]float64{}, 0.0
	for i := range x {
		want[tgt.Spell(x[i], false).Text] += math.Exp(u[i])
		sum += math.Exp(u[i])
	}
	r, err := e.Fill(ctx, tm, opt)
	if err != nil {
		t.Fatal(err)
	}
	if r.Shortlist != 12 || r.Marginals.Fillings.Distinct > len(texts) {
		t.Errorf("%d candidates, %d texts", r.Shortlist, r.Marginals.Fillings.Distinct)
	}
	for _, f := range r.Marginals.Fillings.Likeliest[:5] {
		if p := want[f.Text] / sum; !(math.Abs(f.Probability-p) < 4.5**f.Error) {
			t.Errorf("%q is %.4f ± %.4f, want %.4f", f.Text, f.Probability, *f.Error, p)
		}
	}
}

// Asking for probabilities changes nothing else.
func TestMarginalsChangeNoFilling(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tm, err := text.Parse(e.Tokenizer(), "the [MASK*1-2] saw the [MASK] .")
	if err != nil {
		t.Fatal(err)
	}
	for _, budget := range []Budget{BudgetSteps, BudgetRows} {
		var texts [2]string
		for i, on := range []bool{false, true} {
			r, err := e.Fill(context.Background(), tm, Options{Sampling: SamplingOptions{Steps: 30,
				Budget: budget}, Seed: 5, Results: ResultOptions{Marginals: on,
				Score: ScorePLL}})
			if err != nil {
				t.Fatal(err)
			}
			if (r.Marginals != nil) != on {
				t.Errorf("asked %v: %v", on, r.Marginals)
			}
			texts[i] = fmt.Sprint(r.Fillings)
		}
		if texts[0] != texts[1] {
			t.Errorf("%s\n%s", texts[0], texts[1])
		}
	}
}

// A single blank has the probabilities of its computed distribution.
func TestMarginalsOfOneBlank(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	for _, line := range []string{"the [MASK] sleeps .", "the [MASK:a] and the [MASK:a] sleep ."} {
		r := exactFill(t, e, line, Options{Results: ResultOptions{Marginals: true, Top: 7},
			Words: WordOptions{Vocab: text.VocabWholeWords}})
		m := r.Marginals
		if !r.Exact || m == nil || m.Draws != 0 || len(m.Fillings.Likeliest) != 7 ||
			m.Fillings.Distinct != r.Distinct || len(m.Blanks) != strings.Count(line, "[MASK") {
			t.Fatalf("%s: %+v", line, m)
		}
		for i, f := range r.Fillings {
			for b := range m.Blanks {
				got := m.Blanks[b].Likeliest[i]
				want := f.Text[f.Spans[b][0]:f.Spans[b][1]]
				if got.Text != want || got.Probability != f.Probability || *got.Error != 0 {
					t.Errorf("blank %d: %+v, want %s %v", b+1, got, want, f.Probability)
				}
			}
			if got := m.Fillings.Likeliest[i]; got.Text != f.Text || got.Probability != f.Probability || *got.Error != 0 {
				t.Errorf("%+v, want %+v", got, f)
			}
		}
	}
}

// Samplers without an acceptance step estimate something else, and so are refused.
func TestMarginalsNeedAnExactSampler(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tm, err := text.Parse(e.Tokenizer(), "the [MASK] saw the [MASK] .")
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range samplers.List() {
		s, err := samplers.New(info.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Sampling: SamplingOptions{Sampler: s, Steps: 20, Chains: 3, Shortlist: 6},
			Results: ResultOptions{Marginals: true}, Words: WordOptions{Vocab: text.VocabWholeWords}}
		r, err := e.Fill(context.Background(), tm, opt)
		if info.Exact {
			if err != nil || r.Marginals == nil || r.Marginals.Draws != 30 {
				t.Errorf("%s: %v, %v", info.Name, r, err)
			}
		} else if !errors.Is(err, text.ErrOption) || !strings.Contains(err.Error(), info.Name) {
			t.Errorf("%s: %v", info.Name, err)
		}
	}
	if _, err := e.Fill(context.Background(), tm, Options{Sampling: SamplingOptions{NoSteps: true},
		Results: ResultOptions{Marginals: true}}); !errors.Is(err, text.ErrOption) {
		t.Error(err)
	}
}

// Chains that stay in different places come with a warning, chains that mix without, and few steps
// with one that says so.
func TestMarginalsWarn(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	for _, c := range []struct {
		text  string
		opt   Options
		warns []string
	}{
		{"The [MASK|man|dog|king] went into the [MASK|house|river|road] again.",
			Options{Sampling: SamplingOptions{Steps: 400, Temperature: 2}}, nil},
		// A random walk that changes one word of the whole vocabulary at a time is hardly ever accepted.
		{"The old [MASK] sat down and closed his [MASK].",
			Options{Sampling: SamplingOptions{Steps: 40, Sampler: randomWalk{}, Temperature: .5}},
			[]string{"none of them ever changed there"}},
		{"The old [MASK*1-4] sat down and closed his [MASK].",
			Options{Sampling: SamplingOptions{Steps: 4, Chains: 2}},
			[]string{"2 of 4 combinations of lengths have a chain", "too few"}},
		// One of a few words at a time is accepted now and then.
		{"The [MASK|man|dog|king] went into the [MASK|house|river|road] again.",
			Options{Sampling: SamplingOptions{Steps: 40, Sampler: randomWalk{}, Temperature: .8}},
			[]string{"R-hat of 1."}},
		{"The [MASK|man|dog|king] went into the [MASK|house|river|road] again.",
			Options{Sampling: SamplingOptions{Steps: 4}}, []string{"too few"}},
	} {
		tm, err := text.Parse(e.Tokenizer(), c.text)
		if err != nil {
			t.Fatal(err)
		}
		c.opt.Results.Marginals = true
		r, err := e.Fill(context.Background(), tm, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		right := len(r.Warnings) == len(c.warns)
		for i := 0; right && i < len(c.warns); i++ {
			right = errors.Is(r.Warnings[i], chains.ErrUnmixed) &&
				strings.Contains(r.Warnings[i].Error(), c.warns[i]) &&
				strings.Contains(r.Marginals.Warning, c.warns[i])
		}
		if !right {
			t.Errorf("%s %+v: %q, in the marginals %q", c.text, c.opt, r.Warnings, r.Marginals.Warning)
		}
	}
}
