package infill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"infill/infill/internal/target"
	"infill/infill/request"
	"infill/infill/text"
	"infill/samplers"
)

// started is what chains begin with by default.
func started(ctx context.Context, t *target.Target, seed uint64, id string, n int) ([][]int32, error) {
	cum, logp, err := t.Alone(ctx)
	if err != nil {
		return nil, err
	}
	x := make([][]int32, n)
	for k := range x {
		x[k] = make([]int32, len(t.Coords))
		err = cmp.Or(err, t.Draw(samplers.NewStream(seed, id+"\x00start", k), cum, logp, x[k]))
	}
	return x, err
}

// startsOf are the tokens of the starts of n chains.
func startsOf(t *testing.T, e *Engine, line string, opt Options) ([]string, error) {
	t.Helper()
	tm, err := text.Parse(e.Tokenizer(), line)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	opt.Method, opt.Results.Score, opt.Sampling.NoSteps, opt.Results.Collect = MethodSample, ScorePLL,
		true, CollectLast
	opt.Watch.Trace = func(s Step) error {
		for k := range s.Energy {
			var words []string
			for _, id := range s.Tokens(k) {
				words = append(words, e.Tokenizer().Token(id))
			}
			out = append(out, strings.Join(words, " "))
		}
		return nil
	}
	_, err = e.Fill(t.Context(), tm, opt)
	return out, err
}

// Argmax is what an enumeration of every blank alone says, and with a rule the best state that the
// rule allows with the likeliest first word.
func TestStartArgmax(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	const line = "the [MASK] saw the [MASK] ."
	tm, err := text.Parse(e.Tokenizer(), line)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range []bool{false, true} {
		opt := Options{Words: WordOptions{Vocab: text.VocabWholeWords, NoRepeat: repeatsIf[rule]},
			Sampling: SamplingOptions{Start: StartArgmax, Chains: 3}}
		tgt := targetOf(t, e, tm, opt)
		logp, err := tgt.AllMasked(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		best, want := math.Inf(-1), ""
		for a, u := range logp[0] {
			for b, v := range logp[1] {
				if rule && (a == b || u < slices.Max(logp[0])) {
					continue
				}
				if u+v > best {
					best = u + v
					want = e.Tokenizer().Token(tgt.Coords[0].IDs[a]) + " " +
						e.Tokenizer().Token(tgt.Coords[1].IDs[b])
				}
			}
		}
		got, err := startsOf(t, e, line, opt)
		if err != nil || !slices.Equal(got, []string{want, want, want}) {
			t.Errorf("rule %v: %q, want %q: %v", rule, got, want, err)
		}
	}
}

// Random starts are uniform over the states that the rules allow.
func TestStartRandom(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	words := []string{"dog", "cat", "fox", "big dog"}
	index := map[string]int{}
	for _, a := range words {
		for _, b := range words {
			if a != b && !strings.Contains(a+" "+b, "dog big dog") && a+b != "big dogdog" {
				index[a+" "+b] = len(index)
			}
		}
	}
	got, err := startsOf(t, e, "the [MASK|dog|cat|fox|big dog] saw the [MASK|dog|cat|fox|big dog] .",
		Options{Sampling: SamplingOptions{Start: StartRandom, Chains: 5000},
			Words: WordOptions{NoRepeat: text.RepeatText}, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	counts, p := make([]int, len(index)), make([]float64, len(index))
	for _, s := range got {
		i, ok := index[s]
		if !ok {
			t.Fatalf("%q is not among %v", s, slices.Sorted(maps.Keys(index)))
		}
		counts[i]++
		p[i] = 1 / float64(len(p))
	}
	if z := chiSquare(counts, p); !(math.Abs(z) < 4.8) {
		t.Errorf("%v: score %.1f", counts, z)
	}
	again, err := startsOf(t, e, "the [MASK] saw the [MASK] .",
		Options{Sampling: SamplingOptions{Start: StartRandom, Chains: 50}})
	if err != nil || len(slices.Compact(slices.Sorted(slices.Values(again)))) < 25 {
		t.Errorf("%q, %v", again, err)
	}
}

// The original words and given fillings are where chains begin, each in its turn, and every sampler
// goes on from there.
func TestStartGiven(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tok := e.Tokenizer()
	got, err := startsOf(t, e, "the [MASK] saw the [MASK] .",
		Options{Sampling: SamplingOptions{Start: StartOriginal, Chains: 2},
			Words: WordOptions{Original: []string{"Dog", "fox"}}})
	if err != nil || !slices.Equal(got, []string{"dog fox", "dog fox"}) {
		t.Errorf("%q, %v", got, err)
	}
	const line = "the [MASK:a] saw the [MASK*2] and the [MASK:a] [MASK|big dog|fox] ."
	file := `{"text":"` + line + `","fillings":[{"text":"x","tokens":["dog","fox ##s","dog","big dog"]},` +
		`{"text":"y","tokens":["cat","big cat","cat","fox"]}],"seed":1}` + "\n\n" +
		`{"line":2,"text":"the [MASK] .","fillings":[{"text":"the fox.","tokens":["fox"]}]}` + "\n" +
		`{"line":3,"error":{"code":"no_blank","message":"x"}}` + "\n"
	s, err := ReadStarts(tok, "run.jsonl", strings.NewReader(file))
	if err != nil || len(s.ByText) != 2 {
		t.Fatal(s, err)
	}
	want := []string{"dog fox ##s dog big dog", "cat big cat cat fox", "dog fox ##s dog big dog"}
	got, err = startsOf(t, e, line,
		Options{Sampling: SamplingOptions{Starts: s, Chains: 3}})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	for _, info := range samplers.List() {
		one := request.NewStarts("")
		one.Add("the [MASK] saw the [MASK] .", []string{"dog", "fox"}, "")
		tm, err := text.Parse(tok, "the [MASK] saw the [MASK] .")
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Sampling: SamplingOptions{Sampler: named(t, info.Name, nil),
			Starts: one, Chains: 2,
			Steps: 2}, Words: WordOptions{Allow: list(t, "dog", "fox", "cat")},
			Results: ResultOptions{Score: ScorePLL}}
		if _, err := e.Fill(t.Context(), tm, opt); err != nil {
			t.Errorf("%s: %v", info.Name, err)
		}
	}
}

// Chains of open lengths take the fillings of their lengths.
func TestStartOpenLengths(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	const text = "the [MASK*1-2] sleeps ."
	s := request.NewStarts("file")
	s.Add(text, []string{"big dog"}, "file, line 1")
	s.Add(text, []string{"cat"}, "file, line 2")
	got, err := startsOf(t, e, text,
		Options{Sampling: SamplingOptions{Starts: s, Chains: 4}})
	slices.Sort(got)
	if err != nil || !slices.Equal(got, []string{"big dog", "big dog", "cat", "cat"}) {
		t.Errorf("%q, %v", got, err)
	}
	short := request.NewStarts("file")
	short.Add(text, []string{"cat"}, "file, line 2")
	if _, err := startsOf(t, e, text,
		Options{Sampling: SamplingOptions{Starts: short, Chains: 4}}); !errors.Is(err,
		ErrStart) || !strings.Contains(err.Error(), "in 2 tokens") {
		t.Error(err)
	}
}

// What cannot be a start says which blank, from where, and why.
func TestStartErrors(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	const line = "the [MASK] saw the [MASK] ."
	given := func(words ...string) Options {
		s := request.NewStarts("run.jsonl")
		s.Add(line, words, "run.jsonl, line 7")
		return Options{Sampling: SamplingOptions{Starts: s}}
	}
	with := func(o Options, change func(*Options)) Options { change(&o); return o }
	for want, opt := range map[string]Options{
		"nothing stood in the blanks":                 {Sampling: SamplingOptions{Start: StartOriginal}},
		`run.jsonl, line 7: blank 2, "zebra"`:         given("dog", "zebra"),
		`run.jsonl, line 7: blank 1, "big dog"`:       given("big dog", "fox"),
		"run.jsonl, line 7: 1 words for 2 blanks":     given("dog"),
		`run.jsonl, line 7: blank 2, "." : it is not`: given("dog", "."),
		"run.jsonl, line 7: its words break a rule": with(given("dog", "dog"),
			func(o *Options) { o.Words.NoRepeat = text.RepeatText }),
		"run.jsonl: it has no filling of this text": {Sampling: SamplingOptions{
			Starts: request.NewStarts("run.jsonl")}},
		`blank 1, "fox": it is not among`: {Sampling: SamplingOptions{Start: StartOriginal},
			Words: WordOptions{Original: []string{"fox", "dog"}, Ban: list(t, "fox")}},
		`the fillings to begin with: it has no filling`: {Sampling: SamplingOptions{
			Starts: request.NewStarts("")}},
	} {
		want = strings.Replace(want, " : it", ": it", 1)
		if _, err := startsOf(t, e, line, opt); !errors.Is(err, ErrStart) ||
			!strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, opt := range []Options{{Sampling: SamplingOptions{Start: -1}},
		{Sampling: SamplingOptions{Start: 9}},
		{Sampling: SamplingOptions{Start: StartRandom, Starts: request.NewStarts("")}}} {
		if err := opt.Prepare(); !errors.Is(err, text.ErrOption) {
			t.Errorf("%+v: %v", opt, err)
		}
	}
	for file, want := range map[string]string{
		"":                   "f: no record of a filled text",
		"{\"text\":1}":       "f, line 1",
		"\n[]":               "f, line 2: not a record",
		`{"text":"a [MASK"}`: "no record",
		`{"text":"a [MASK*x].","fillings":[{"tokens":["b"]}]}`:   "f, line 1: ",
		`{"text":"a [MASK].","fillings":[{"tokens":["b","c"]}]}`: "f, line 1: filling 1 has 2 tokens for 1",
	} {
		if _, err := ReadStarts(e.Tokenizer(), "f", strings.NewReader(file)); !errors.Is(err, ErrStart) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", file, err, want)
		}
	}
}
