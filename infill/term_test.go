package infill

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"infill/infill/internal/target"
	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
)

// toyTerm judges a text by a hash of it, from −2 to 2 nats: nothing of it is in the model's
// proposals. It counts the texts that it is asked about.
type toyTerm struct {
	name  string
	rows  int
	asked atomic.Int64
	odd   map[string]float64 // values of texts that hold this
}

func (t *toyTerm) Name() string { return t.name }

func (t *toyTerm) Rows() int { return t.rows }

func (t *toyTerm) Values(_ context.Context, texts []Finished, v []float64) error {
	t.asked.Add(int64(len(texts)))
	for k, f := range texts {
		v[k] = t.of(f.Text)
	}
	return nil
}

func (t *toyTerm) of(text string) float64 {
	for part, v := range t.odd {
		if strings.Contains(text, part) {
			return v
		}
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(t.name + text))
	return 4*float64(h.Sum64()>>11)/(1<<53) - 2
}

// Samplers leave π of the whole energy as it is: chains that start from exp((U₁ + λU₂)/T),
// enumerated by other code, are distributed by it after any number of steps.
func TestTermsInvariant(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e := New(tiny(t))
	const weight, temp = 1.5, 2.0
	for _, line := range []string{
		"the [MASK|red|green|dogs|big dog|small red fox] sleeps in the [MASK|house|road|big river] .",
		"the [MASK/^(dog|cat|bird|fish|horse|cow|fox)$/] saw the [MASK/^(dog|cat|fish|horse|bear)$/] .",
		"the [MASK:a|dog|fox|cats|big dog] and the [MASK:a] .",
		"the [MASK|dog|fox|cats|birds|cow|horse] sleeps .",
	} {
		tm := parsed(t, e, line)
		toy := &toyTerm{name: "toy"}
		opt := Options{Sampling: SamplingOptions{Temperature: temp},
			Words: WordOptions{Terms: []Weighted{{Term: toy, Weight: weight}}}}
		tgt := targetOf(t, e, tm, opt)
		x, texts := allStates(tgt)
		p := make([]float64, len(x))
		for i := range x {
			f := tgt.Spell(x[i], false)
			u, _ := oracle(t, e, texts[i], f.Spans)
			p[i] = math.Exp(u + weight*toy.of(texts[i]))
		}
		p = tempered(p, 1/temp)
		if _, err := started(ctx, tgt, 1, "", 1); err != nil { // what gradients of lists need
			t.Fatal(err)
		}
		table := newTabled(tgt)
		for _, s := range []samplers.Sampler{
			&samplers.Rows{}, &samplers.DMALA{}, &samplers.GibbsMH{}, &samplers.GWG{},
			&samplers.DLMC{Time: 0.5},
		} {
			z, moved := leave(t, ctx, s, table, x, p, 8)
			if !(z < threshold) || moved == 0 {
				t.Errorf("%s, %q: leaves π of %d states (score %.1f, %d moved)", s.Info().Name, line, len(p), z,
					moved)
			}
		}
	}
}

// Chains that start where the model alone would reach π of the whole energy.
func TestTermsReached(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	tm := parsed(t, e, "The film was [MASK|good|bad|long|short|dull] and "+
		"[MASK|funny|boring|sad|slow].")
	toy := &toyTerm{name: "toy"}
	const temp = 2.0
	opt := Options{Results: ResultOptions{Collect: CollectLast, All: true, Score: ScorePLL},
		Sampling: SamplingOptions{Steps: 60, Chains: 1000, Temperature: temp}, Seed: 3,
		Words: WordOptions{Terms: []Weighted{{Term: toy, Weight: 3}}}}
	tgt := targetOf(t, e, tm, opt)
	x, texts := allStates(tgt)
	p, plain, at := make([]float64, len(x)), make([]float64, len(x)), map[string]int{}
	for i := range x {
		s, err := e.ScoreSpans(context.Background(), texts[i], tgt.Spell(x[i], false).Spans, ScorePLL)
		if err != nil {
			t.Fatal(err)
		}
		plain[i] = math.Exp(s.Score)
		p[i] = math.Exp(s.Score + 3*toy.of(texts[i]))
		at[texts[i]] = i
	}
	p, plain = tempered(p, 1/temp), tempered(plain, 1/temp)
	far := 0.0
	for i := range p {
		far += math.Abs(p[i]-plain[i]) / 2
	}
	if far < 0.2 {
		t.Fatalf("the term hardly matters: total variation %.2f", far)
	}
	for _, name := range []string{"rows", "dmala", "gibbs-mh", "gwg"} {
		s, err := samplers.New(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		opt.Sampling.Sampler = s
		r, err := e.Fill(context.Background(), tm, opt)
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]int, len(p))
		for _, f := range r.Fillings {
			i := at[f.Text]
			counts[i] += f.Count
			parts := f.Energies[ModelEnergy] + f.Energies["toy"]
			if math.Abs(f.Energies["toy"]-3*toy.of(f.Text)) > 1e-12 || math.Abs(parts-f.Score) > 1e-9 {
				t.Errorf("%s: %q has %v of %v", name, f.Text, f.Energies, f.Score)
			}
		}
		if z := chiSquare(counts, p); !(math.Abs(z) < 4.8) {
			t.Errorf("%s: differs from π of %d states: score %.1f (acceptance %.2f)", name, len(p), z,
				r.Acceptance)
		}
	}
}

// A single blank is computed with its terms, unless they would take too many rows.
func TestTermsExact(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	for _, text := range []string{
		"the [MASK] sleeps in the house .", "the [MASK|dog|fox|big dog] sleeps in the house .",
		"the [MASK:a] saw the [MASK:a] .",
	} {
		toy := &toyTerm{name: "toy"}
		r := exactFill(t, e, text,
			Options{Results: ResultOptions{All: true, Score: ScorePLL},
				Sampling: SamplingOptions{Temperature: 1.5}, Words: WordOptions{Terms: []Weighted{{Term: toy, Weight: -2}}}})
		if !r.Exact {
			t.Fatalf("%q: %+v", text, r)
		}
		sum, all := 0.0, 0.0
		for _, f := range r.Fillings {
			u, _ := oracle(t, e, f.Text, f.Spans)
			if want := u - 2*toy.of(f.Text); math.Abs(f.Score-want) > 1e-4 {
				t.Errorf("%q scores %v, want %v", f.Text, f.Score, want)
			}
			sum += math.Exp(f.Score / 1.5)
			all += f.Probability
		}
		for _, f := range r.Fillings {
			if want := math.Exp(f.Score/1.5) / sum; math.Abs(f.Probability-want) > 1e-9 {
				t.Errorf("%q has probability %v, want %v", f.Text, f.Probability, want)
			}
		}
		if math.Abs(all-1) > 1e-9 {
			t.Errorf("%q: probabilities sum to %v", text, all)
		}
		toy.rows = maxExactRows
		if r = exactFill(t, e, text, Options{Method: MethodExact, Results: ResultOptions{Score: ScorePLL},
			Words: WordOptions{Terms: []Weighted{{Term: toy, Weight: 1}}}}); r.Exact || r.Method != MethodSample {
			t.Errorf("%q: %d rows a text, and exact: %v", text, toy.rows, r)
		}
	}
}

// Results are the same bits with and without a memo, whatever the parts are, and a memo spares
// questions.
func TestTermsMemo(t *testing.T) {
	t.Parallel()
	var want string
	var asked []int64
	for _, bytes := range []int64{DefaultMemo, 0} {
		e := New(tiny(t)).WithMemo(bytes)
		tm := parsed(t, e, "the [MASK] saw the [MASK] in the [MASK] .")
		toy := &toyTerm{name: "toy"}
		r, err := e.Fill(context.Background(), tm,
			Options{Seed: 1, Words: WordOptions{Terms: []Weighted{{Term: toy, Weight: 1}}},
				Method: MethodSample, Results: ResultOptions{Score: ScorePLL}})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range r.Fillings {
			got += fmt.Sprintln(f.Text, f.Score, f.Energies)
		}
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("with %d bytes:\n%s\nwant\n%s", bytes, got, want)
		}
		asked = append(asked, toy.asked.Load())
	}
	if asked[0] >= asked[1] {
		t.Errorf("%d texts judged with a memo, %d without", asked[0], asked[1])
	}
}

// Samplers that would leave terms out are refused, as are terms that make no sense.
func TestTermsRefused(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tm := parsed(t, e, "the [MASK] saw the [MASK] .")
	for _, info := range samplers.List() {
		s, err := samplers.New(info.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Sampling: SamplingOptions{Sampler: s, Steps: 2, Chains: 2},
			Words:   WordOptions{Terms: []Weighted{{Term: &toyTerm{name: "toy"}, Weight: 1}}},
			Results: ResultOptions{Score: ScorePLL}}
		_, err = e.Fill(context.Background(), tm, opt)
		if refused := errors.Is(err, samplers.ErrUnsupported); refused == info.Exact ||
			err != nil && !refused {
			t.Errorf("%s, exact %v: %v", info.Name, info.Exact, err)
		}
	}
	for name, terms := range map[string][]Weighted{
		"no term": {{Term: nil, Weight: 1}},
		"no name": {{Term: &toyTerm{}, Weight: 1}},
		"model":   {{Term: &toyTerm{name: ModelEnergy}, Weight: 1}},
		"twice":   {{Term: &toyTerm{name: "a"}, Weight: 1}, {Term: &toyTerm{name: "a"}, Weight: 2}},
		"weight":  {{Term: &toyTerm{name: "a"}, Weight: math.NaN()}},
		"great":   {{Term: &toyTerm{name: "a"}, Weight: 2 * MaxWeight}},
	} {
		if _, err := e.Fill(context.Background(), tm,
			Options{Words: WordOptions{Terms: terms}}); !errors.Is(err, text.ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// filledTerm is the number of bytes that were filled in.
type filledTerm struct{ toyTerm }

func (*filledTerm) Values(_ context.Context, texts []Finished, v []float64) error {
	for k, f := range texts {
		v[k] = 0
		for _, s := range f.Spans {
			v[k] += float64(s[1] - s[0])
		}
	}
	return nil
}

// What is remembered of a text is so for what was filled in: the same text may come from other
// blanks, and another part may say something else of it.
func TestTermsRememberSpans(t *testing.T) {
	t.Parallel()
	for _, remember := range []bool{false, true} {
		terms := []Weighted{{Term: &filledTerm{}, Weight: 1}, {Term: &toyTerm{name: "toy"}, Weight: 1}}
		x := target.NewExtra(&Options{Words: WordOptions{Terms: terms}}, nil, remember)
		only := func(i int) func(Weighted) bool {
			return func(w Weighted) bool { return w.Term == terms[i].Term }
		}
		texts := []Finished{{Text: "a dog", Spans: [][2]int{{2, 5}}}, {Text: "a dog", Spans: [][2]int{{0, 5}}},
			{Text: "a dog", Spans: [][2]int{{0, 1}, {2, 5}}}, {Text: "a dog", Spans: [][2]int{{2, 5}}}}
		for range 2 {
			v := make([]float64, 4)
			if err := x.Sums(t.Context(), texts, v, only(0)); err != nil || !slices.Equal(v, []float64{3, 5, 4, 3}) {
				t.Errorf("%v, %v", v, err)
			}
			clear(v)
			if err := x.Sums(t.Context(), texts[:1], v[:1], only(1)); err != nil || v[0] != (&toyTerm{name: "toy"}).of("a dog") {
				t.Errorf("%v, %v", v, err)
			}
		}
	}
}

// A value that is not finite is refused where it appears, and counted.
func TestTermsNotFinite(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tm := parsed(t, e, "the [MASK|dog|fox|cats] saw the [MASK|dog|fox|cats] .")
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		toy := &toyTerm{name: "toy", odd: map[string]float64{"fox saw the cats": v}}
		r, err := e.Fill(context.Background(), tm, Options{
			Sampling: SamplingOptions{Steps: 80, Temperature: 4}, Results: ResultOptions{All: true,
				Score: ScorePLL}, Seed: 5, Words: WordOptions{Terms: []Weighted{{Term: toy, Weight: 1}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if r.Stats.NonFinite == 0 || len(r.Warnings) == 0 {
			t.Errorf("%v: %+v", v, r)
		}
		for _, f := range r.Fillings {
			if strings.Contains(f.Text, "fox saw the cats") {
				t.Errorf("%v: %q is a filling", v, f.Text)
			}
		}
	}
}

// Scores and candidates have the parts that fillings have: the same number for the same text.
func TestTermsScored(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	terms := []Weighted{{Term: &toyTerm{name: "a"}, Weight: 1.5}, {Term: &toyTerm{name: "b"}, Weight: -0.5}, {Term: &toyTerm{name: "c"}, Weight: 0}}
	tm := parsed(t, e, "the [MASK|dog|cat|fox] sleeps .")
	filled, err := e.Fill(t.Context(), tm,
		Options{Words: WordOptions{Terms: terms}, Results: ResultOptions{Top: 3, Score: ScorePLL}})
	if err != nil {
		t.Fatal(err)
	}
	list, err := e.Candidates(t.Context(), tm, nil, CandidateOptions{Terms: terms, Score: ScorePLL})
	if err != nil || len(list) != 3 || len(filled.Fillings) != 3 {
		t.Fatal(list, filled, err)
	}
	toy := func(text string) float64 {
		return 1.5*terms[0].Term.(*toyTerm).of(text) - 0.5*terms[1].Term.(*toyTerm).of(text)
	}
	for i, c := range list {
		f := filled.Fillings[i]
		if c.Text != f.Text || math.Abs(c.Score-f.Score) > 1e-6 || len(c.Energies) != 4 ||
			math.Abs(c.Energies["a"]-f.Energies["a"]) > 1e-9 ||
			math.Abs(c.Share-f.Probability) > 1e-6 ||
			math.Abs(c.Score-c.Energies[ModelEnergy]-toy(c.Text)) > 1e-6 {
			t.Errorf("candidate %+v, filling %+v", c, f)
		}
		plain, err := e.Score(t.Context(), c.Text, ScoreOptions{By: ScorePLL})
		if err != nil || plain.Energies != nil {
			t.Fatal(plain, err)
		}
		s, err := e.Score(t.Context(), c.Text, ScoreOptions{By: ScorePLL, Terms: terms})
		if err != nil {
			t.Fatal(err)
		}
		if want := plain.Score + toy(c.Text); math.Abs(s.Score-want) > 1e-6 ||
			s.Energies[ModelEnergy] != plain.Score ||
			math.Abs(s.ScorePerToken*float64(len(s.Pieces))-want) > 1e-6 {
			t.Errorf("%q: %+v, want %v", c.Text, s, want)
		}
	}
	broken := []Weighted{{Term: &toyTerm{name: "n", odd: map[string]float64{"": math.NaN()}}, Weight: 1}}
	if _, err := e.Score(t.Context(), "the dog .", ScoreOptions{By: ScorePLL, Terms: broken}); !errors.Is(err, mlm.ErrNotFinite) {
		t.Error(err)
	}
	_, err = e.Candidates(t.Context(), tm, nil, CandidateOptions{Terms: broken})
	if !errors.Is(err, mlm.ErrNotFinite) {
		t.Error(err)
	}
	if _, err := e.Score(t.Context(), "the dog .", ScoreOptions{By: ScorePLL, Terms: []Weighted{{}}}); !errors.Is(err, text.ErrOption) {
		t.Error(err)
	}
}
