package infill

import (
	"cmp"
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"infill/infill/internal/choosing"
	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
)

// parsed is the template of a text.
func parsed(t *testing.T, e *Engine, line string) *text.Template {
	t.Helper()
	tm, err := text.Parse(e.Tokenizer(), line)
	if err != nil {
		t.Fatal(err)
	}
	return tm
}

// exactFill fills a text, without sampling if the options allow that.
func exactFill(t *testing.T, e *Engine, text string, opt Options) *Result {
	t.Helper()
	r, err := e.Fill(context.Background(), parsed(t, e, text), opt)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}

// The probabilities of a single blank agree with an enumeration: every filling that the constraints
// allow, listed and scored by other code, weighs exp(U/T).
func TestExactIsEnumeration(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tok := e.Tokenizer()
	words := wordsOf(tok, nil)
	cases := constraintCases(t, tok)
	add := func(name, text string, opt Options, words []string) {
		var states [][]string
		for _, w := range words {
			states = append(states, []string{w})
		}
		cases = append(cases, constraintCase{name, text, opt, states})
	}
	add("one blank", "the [MASK] sleeps .", Options{Words: WordOptions{Vocab: text.VocabWholeWords}}, words)
	add("cold", "the [MASK] sleeps .", Options{Words: WordOptions{Vocab: text.VocabWholeWords},
		Sampling: SamplingOptions{Temperature: 0.25}}, words)
	add("hot", "the [MASK] sleeps .", Options{Words: WordOptions{Vocab: text.VocabWholeWords},
		Sampling: SamplingOptions{Temperature: 50}}, words)
	add("ban", "the [MASK] sleeps .",
		Options{Words: WordOptions{Vocab: text.VocabWholeWords, Ban: list(t, "dog", "fox")}},
		slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "dog" || w == "fox" }))
	add("allow", "the [MASK] sleeps .",
		Options{Words: WordOptions{Allow: list(t, "dog", "big dog", "cats", "old bear")}},
		[]string{"dog", "big dog", "cats", "old bear"})
	add("allow, counted", "the [MASK*2] sleeps .",
		Options{Words: WordOptions{Allow: list(t, "dog", "big dog", "cats")}},
		[]string{"big dog", "cats"})
	exact := 0
	for _, c := range cases {
		tm, err := text.Parse(tok, c.text)
		if err != nil {
			t.Fatal(err)
		}
		c.opt.Method, c.opt.Results.Score, c.opt.Results.All = MethodExact, ScorePLL, true
		if len(tm.Groups) > 1 || c.opt.Words.Allow == nil && tm.Groups[0].Words == nil &&
			tm.Groups[0].Max > 1 {
			continue
		}
		exact++
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkEnumerated(t, e, tm, c)
		})
	}
	if exact < 10 {
		t.Errorf("%d texts have one blank", exact)
	}
}

func checkEnumerated(t *testing.T, e *Engine, tm *text.Template, c constraintCase) {
	temp := c.opt.Complete().Sampling.Temperature
	want, scores := map[string]float64{}, map[string]float64{}
	best, sum := math.Inf(-1), 0.0
	for _, s := range c.states {
		text, spans := tm.Splice(s)
		scores[text], _ = oracle(t, e, text, spans)
		best = max(best, scores[text])
	}
	for text, u := range scores {
		want[text] = math.Exp((u - best) / temp)
		sum += want[text]
	}
	r, err := e.Fill(context.Background(), tm, c.opt)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Exact || r.Distinct != len(want) || len(r.Fillings) != len(want) || r.Steps != 0 ||
		!math.IsNaN(r.Acceptance) || r.Tuned != nil || r.Stats.Evals != 0 || r.Rows < 1 {
		t.Fatalf("%+v, want %d fillings", r, len(want))
	}
	total := 0.0
	for i, f := range r.Fillings {
		total += f.Probability
		if p := want[f.Text] / sum; math.Abs(f.Probability-p) > 1e-4*p+1e-12 ||
			math.Abs(f.Score-scores[f.Text]) > 1e-4 ||
			math.Abs(f.ScorePerToken*float64(len(f.IDs))-f.Score) > 1e-9 {
			t.Errorf("%q has %v, %v; want %v, %v", f.Text, f.Score, f.Probability, scores[f.Text], p)
		}
		if i > 0 && f.Probability > r.Fillings[i-1].Probability {
			t.Errorf("%q is not in its place", f.Text)
		}
		delete(want, f.Text)
	}
	if len(want) > 0 || math.Abs(total-1) > 1e-9 {
		t.Errorf("%d fillings are missing, the others sum to %v", len(want), total)
	}
}

// On a real model the probabilities are the model's own softmax over the words that fit.
func TestExactRealModel(t *testing.T) {
	t.Parallel()
	m := openSmall(t)
	e := New(m)
	tok := m.Tokenizer()
	const line = "The [MASK] barked at the cat."
	enc, err := tok.Encode(line)
	if err != nil {
		t.Fatal(err)
	}
	s := &mlm.Sentence{IDs: enc.IDs, Blanks: []int{slices.Index(enc.IDs, tok.MaskID())}}
	logp := zeros[float32](1, m.VocabSize())
	if err := m.Independent(context.Background(), s, logp); err != nil {
		t.Fatal(err)
	}
	sum, n := 0.0, 0
	p := map[string]float64{}
	for id := range int32(tok.VocabSize()) {
		w := tok.Token(id)
		if tok.IsSpecial(id) || tok.IsUnused(id) || tok.IsContinuation(id) ||
			!unicode.In([]rune(w)[0], unicode.L, unicode.M) || strings.ContainsFunc(w, unicode.IsDigit) {
			continue
		}
		p[w] = math.Exp(float64(logp[0][id]))
		sum += p[w]
		n++
	}
	r := exactFill(t, e, line, Options{Results: ResultOptions{Top: 200}})
	if !r.Exact || r.Distinct != n || len(r.Fillings) != 200 {
		t.Fatalf("exact %v, %d fillings of %d, want %d", r.Exact, len(r.Fillings), r.Distinct, n)
	}
	least := 1.0
	for _, f := range r.Fillings {
		w := f.Tokens[0]
		least = min(least, p[w])
		if math.Abs(f.Probability/(p[w]/sum)-1) > 1e-5 || math.Abs(math.Exp(f.Score)/p[w]-1) > 1e-5 {
			t.Errorf("%q has %v, %v; the model says %v of %v", w, f.Score, f.Probability, p[w], sum)
		}
		delete(p, w)
	}
	for w, q := range p {
		if q > least*(1+1e-6) {
			t.Errorf("%q is likelier than some of the first 200", w)
		}
	}
	// Tied blanks and phrases have no softmax. Here each filling is scored by itself.
	for _, line := range []string{
		"The [MASK:a/^[bc]a.*ing$/] is [MASK:a].",
		"The car is [MASK|red|green|light blue|very, very old].",
	} {
		r := exactFill(t, e, line, Options{Results: ResultOptions{All: true, Score: ScorePLL},
			Sampling: SamplingOptions{Temperature: 1.5}})
		z := 0.0
		for _, f := range r.Fillings {
			u, _ := oracle(t, e, f.Text, f.Spans)
			z += math.Exp(u / 1.5)
		}
		for _, f := range r.Fillings {
			u, _ := oracle(t, e, f.Text, f.Spans)
			if q := math.Exp(u/1.5) / z; !r.Exact || math.Abs(f.Probability-q) > 1e-4*q {
				t.Errorf("%q has %v, enumerated %v", f.Text, f.Probability, q)
			}
		}
		if len(r.Fillings) < 4 {
			t.Errorf("%s: %d fillings", line, len(r.Fillings))
		}
	}
}

// A long blank, several blanks and too many rows are sampled, and so is what asks for sampling.
func TestExactOrSampled(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	quick := Options{Method: MethodExact, Sampling: SamplingOptions{Chains: 2, Steps: 2},
		Results: ResultOptions{Score: ScorePLL}}
	for text, want := range map[string]bool{
		"the [MASK] sleeps .": true, "the [MASK*1] sleeps .": true, "dog[MASK] sleeps .": true,
		"the [MASK:a|dog|big dog] and the [MASK:a] .": true,
		"the [MASK*2] sleeps .":                       false,
		"the [MASK*1-2] sleeps .":                     false,
		"the [MASK] and the [MASK] sleep .":           false,
		"the [MASK|dog] and the [MASK] sleep .":       false,
	} {
		if r := exactFill(t, e, text, quick); r.Exact != want {
			t.Errorf("%s: exact %v", text, r.Exact)
		}
	}
	dmala := &samplers.DMALA{}
	for name, opt := range map[string]Options{
		"sampler":   {Sampling: SamplingOptions{Sampler: dmala}},
		"steps":     {Sampling: SamplingOptions{Steps: 2}},
		"no steps":  {Sampling: SamplingOptions{NoSteps: true}},
		"budget":    {Sampling: SamplingOptions{Budget: BudgetRows}},
		"chains":    {Sampling: SamplingOptions{Chains: 2}},
		"gradient":  {Sampling: SamplingOptions{Gradient: mlm.Forward}},
		"shortlist": {Sampling: SamplingOptions{Shortlist: 3}},
		"trace":     {Watch: WatchOptions{Trace: func(Step) error { return nil }}},
		"never":     {Method: MethodSample},
	} {
		r := exactFill(t, e, "the [MASK] sleeps .", opt)
		if r.Exact || r.Fillings[0].Count == 0 || r.Fillings[0].Probability != 0 {
			t.Errorf("%s: not sampled: %+v", name, r)
		}
		if opt.Method == MethodSample {
			continue
		}
		opt.Method = MethodExact
		if r := exactFill(t, e, "the [MASK] sleeps .", opt); !r.Exact || r.Shortlist != 0 {
			t.Errorf("%s: sampled: %+v", name, r)
		}
	}
	tm, err := text.Parse(e.Tokenizer(), "the [MASK] sleeps .")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []Method{-1, 4} {
		if _, err := e.Fill(t.Context(), tm, Options{Method: bad}); !errors.Is(err, text.ErrOption) {
			t.Errorf("%d: %v", bad, err)
		}
	}
}

// What a tied blank costs is its fillings times the blanks; more rows than allowed are sampled.
func TestExactRows(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	for _, c := range []struct {
		text string
		rows [2]int // of blended scores and of the pseudo-log-likelihood, 0: too many
		more int    // of blended scores: three that say how likely each length is, for each tied blank
	}{
		{"The [MASK] sleeps.", [2]int{1, 1}, 0},
		{"The [MASK|dog|cat] sleeps.", [2]int{1, 1}, 0},
		// Both chain rules begin with a row that phrases of one length share, and end with one of U.
		{"The [MASK|dog|old cat|a b c] sleeps.", [2]int{1 + (2 + 2) + (3 + 2 + 2), 1 + 2 + 3}, 3},
		{"The [MASK:a|dog|old cat] and the [MASK:a].", [2]int{(2 + 2) + (4 + 4 + 2), 2 * 3}, 6},
		{"The [MASK:a/^(dog|cat|cow)$/], the [MASK:a], the [MASK:a].", [2]int{3*(3+2) + 2, 3 * 3}, 0},
		{"The [MASK:a] and the [MASK:a].", [2]int{}, 0},
	} {
		for score, rows := range c.rows {
			quick := Options{Method: MethodExact, Sampling: SamplingOptions{Chains: 1, Steps: 1},
				Results: ResultOptions{Score: Scoring(score)}}
			r := exactFill(t, e, c.text, quick)
			e.Forget()
			evaluated := rows
			if Scoring(score) == ScoreBlended {
				evaluated += c.more
			}
			if r.Exact != (rows > 0) || r.Exact &&
				(r.Rows != rows || r.Fresh != rows || r.Evaluated != evaluated) {
				t.Errorf("%s: %v, exact %v, %d rows, %d fresh, %d evaluated, want %d", c.text,
					quick.Results.Score,
					r.Exact, r.Rows, r.Fresh, r.Evaluated, evaluated)
			}
		}
	}
}

// Neither seed nor id nor threads have a part in what is computed.
func TestExactSeed(t *testing.T) {
	t.Parallel()
	one, err := mlm.OpenDir(t.Context(), tinyFolder, mlm.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = one.Close() }()
	var first *Result
	for seed, m := range []*mlm.Model{tiny(t), tiny(t), one} {
		r := exactFill(t, New(m), "the [MASK] sleeps .", Options{Seed: uint64(seed), ID: string(rune('a' + seed))})
		if first == nil {
			first = r
		}
		if !reflect.DeepEqual(r.Fillings, first.Fillings) {
			t.Errorf("seed %d: %+v, want %+v", seed, r.Fillings, first.Fillings)
		}
	}
}

// Different fillings are chosen among all that fit, with the probabilities that they had.
func TestExactDiverse(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	const text = "The car is [MASK|red|very red|quite red|green]."
	all := exactFill(t, e, text, Options{Results: ResultOptions{All: true, Score: ScorePLL}})
	two := exactFill(t, e, text,
		Options{Results: ResultOptions{Top: 2, Diverse: true, Score: ScorePLL}})
	want := choosing.Chosen(all, true)[:2]
	slices.SortFunc(want, func(a, b Filling) int { return cmp.Compare(b.Probability, a.Probability) })
	if two.Distinct != 4 || !reflect.DeepEqual(two.Fillings, want) {
		t.Errorf("%+v, want %+v", two, want)
	}
}

// At a temperature so low that all shares but one are 0, or so high that all are alike, the
// fillings still stand by their scores.
func TestExactOrderOfTies(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	for _, temperature := range []float64{1e-300, 1e300} {
		r := exactFill(t, e, "the [MASK] sleeps .",
			Options{Sampling: SamplingOptions{Temperature: temperature},
				Results: ResultOptions{All: true}})
		scores := func(a, b Filling) int { return cmp.Compare(b.Score, a.Score) }
		if !slices.IsSortedFunc(r.Fillings, scores) || len(r.Fillings) < 5 {
			t.Errorf("T = %g: %+v", temperature, r.Fillings)
		}
		best := exactFill(t, e, "the [MASK] sleeps .",
			Options{Sampling: SamplingOptions{Temperature: temperature}, Results: ResultOptions{Top: 3}})
		if !reflect.DeepEqual(best.Fillings, r.Fillings[:3]) {
			t.Errorf("T = %g: the best are %+v", temperature, best.Fillings)
		}
	}
}

// States of one text are one filling; what is not a number is left out and said.
func TestExactWeigh(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	opt := Options{Results: ResultOptions{All: true, Score: ScorePLL},
		Sampling: SamplingOptions{Temperature: 2}}
	if err := opt.Prepare(); err != nil {
		t.Fatal(err)
	}
	tm, err := text.Parse(e.Tokenizer(), "[MASK|dog|cat|cow] sleeps.")
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.resolve(t.Context(), tm, &opt)
	if err != nil {
		t.Fatal(err)
	}
	tgt := onlyOf(p)
	// A state may differ from another by nothing that a text shows.
	tgt.Coords[0].Phrases[1].Text = "Dog"
	one := &exact{&choosing.Chooser{Task: p}, tgt}
	r, err := one.weigh(t.Context(), []float64{-6, -2, -4}, make([]Parts, 3))
	if err != nil || len(r.Fillings) != 2 || r.Fillings[0].Text != "Dog sleeps." ||
		r.Fillings[0].Score != -2 || r.Fillings[1].Text != "Cow sleeps." {
		t.Fatalf("%v: %+v", err, r)
	}
	z := math.Exp(-3) + math.Exp(-1) + math.Exp(-2)
	if got, want := r.Fillings[0].Probability, (math.Exp(-3)+math.Exp(-1))/z; math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
	r, err = one.weigh(t.Context(), []float64{math.NaN(), -2, math.Inf(-1)}, make([]Parts, 3))
	if err != nil || len(r.Fillings) != 1 || r.Fillings[0].Probability != 1 || r.Stats.NonFinite != 1 ||
		len(r.Warnings) != 1 || !errors.Is(r.Warnings[0], mlm.ErrNotFinite) {
		t.Errorf("%v: %+v", err, r)
	}
	_, err = one.weigh(t.Context(), []float64{math.NaN(), math.Inf(1), math.Inf(-1)}, make([]Parts, 3))
	if !errors.Is(err, mlm.ErrNotFinite) {
		t.Errorf("nothing is a number: %v", err)
	}
	inf := math.Inf(-1)
	if _, err = one.weigh(t.Context(), []float64{inf, inf, inf}, make([]Parts, 3)); !errors.Is(err, text.ErrEmptySupport) {
		t.Errorf("nothing fits: %v", err)
	}
}
