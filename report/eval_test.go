package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"infill/infill"
	"infill/infill/jsonl"
	"infill/internal/testmode"
	"infill/metrics/bleu"
	"infill/report/measure"
	"infill/report/read"
	"infill/report/show"
)

func metric(t *testing.T, r measure.Row, key string) measure.Metric {
	t.Helper()
	m, ok := r.Get(key)
	if !ok {
		t.Fatalf("no metric %q in %s", key, r.Name)
	}
	return m
}

func evalDemo(t *testing.T) *measure.EvalResult {
	t.Helper()
	fiction, encyclopedia := demoReferences()
	records, err := os.ReadFile("read/testdata/records.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	o := withIntervals(0, bleu.Confidence{Resamples: 200, Seed: 3})
	o.Exclude = []string{encyclopedia[0]}
	r, err := measure.Eval([]read.Input{
		inMemory("fiction-gen.txt", fiction[:60]),
		inMemory("fillings.jsonl", strings.Split(strings.TrimSpace(string(records)), "\n")),
	}, []read.Input{
		inMemory("refs/wiki.txt", append([]string{""}, encyclopedia...)),
		inMemory("refs/fiction.txt", fiction[60:]),
	}, measure.EvalOptions{
		Options: o,
		Read:    read.Options{Seed: 3},
		Command: "infill eval fiction-gen.txt fillings.jsonl --confidence", Version: "v0.0.0-demo",
		Date: "2026-01-31",
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRenderEval(t *testing.T) {
	t.Parallel()
	r := evalDemo(t)
	golden(t, "eval.txt", show.Eval(r).Text)
	golden(t, "eval.md", show.Eval(r).Markdown)
	golden(t, "eval.json", show.Eval(r).JSON)
	golden(t, "eval.html", show.Eval(r).HTML)
}

// A reader of the report knows what made it, and where more is better.
func TestEvalSaysWhatMadeIt(t *testing.T) {
	t.Parallel()
	r := evalDemo(t)
	for name, render := range map[string]func(io.Writer) error{"html": show.Eval(r).HTML,
		"markdown": show.Eval(r).Markdown} {
		var b bytes.Buffer
		if err := render(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"infill eval fiction", "v0.0.0", "2026", "tokens ws, case lc", "from 200 resamples", "seed", "↑",
			"↓",
		} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s has no %q", name, want)
			}
		}
	}
}

func TestEvalNumbers(t *testing.T) {
	t.Parallel()
	r := evalDemo(t)
	if r.References[0].Blank != 1 || r.References[0].Excluded != 1 ||
		r.References[0].Sentences != 119 {
		t.Errorf("first reference %+v", r.References[0])
	}
	self := metric(t, r.Rows[0], "self_bleu")
	if !self.OK() || !self.HasInterval() || !(self.Low < self.Value && self.Value < self.High) {
		t.Errorf("self-BLEU %v [%v, %v]", self.Value, self.Low, self.High)
	}
	if got := metric(t, r.Rows[1], "score").Value; got != -5 {
		t.Errorf("mean score %v, want -5", got)
	}
	if m := metric(t, r.Rows[0], "score"); m.OK() || len(m.Warnings) == 0 {
		t.Errorf("score of a file without scores: %v %v", m.Value, m.Warnings)
	}
	if got := metric(t, r.Rows[1], "distinct_sentences").Value; got != 3 {
		t.Errorf("%v distinct sentences, want 3", got)
	}
	if len(r.Notes) != 2 || !strings.Contains(r.Notes[0], "samples of 3") ||
		!strings.Contains(r.Notes[1], "no differences") {
		t.Errorf("notes %q do not warn of unequal N, or do not say why there are no differences", r.Notes)
	}
}

// Numbers that do not exist are null with a warning, never 0.
func TestAbsentNumbers(t *testing.T) {
	t.Parallel()
	r, err := measure.Eval([]read.Input{inMemory("one.txt", []string{"only"})}, nil,
		measure.EvalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := show.Eval(r).JSON(&b); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Rows []struct {
			Metrics []struct {
				Key      string
				Value    *float64
				Warnings []string
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	absent := map[string]bool{}
	for _, m := range back.Rows[0].Metrics {
		if m.Value == nil {
			absent[m.Key] = true
			if len(m.Warnings) == 0 {
				t.Errorf("%s is absent without a warning", m.Key)
			}
		}
	}
	for _, key := range []string{"self_bleu", "unique.self.2", "distinct.4", "self_repetition"} {
		if !absent[key] {
			t.Errorf("%s of one word has a number", key)
		}
	}
	if absent["unique.self.1"] || absent["compression_ratio"] {
		t.Error("numbers that exist are absent")
	}
}

func TestEvalErrors(t *testing.T) {
	t.Parallel()
	gen := []read.Input{inMemory("gen", []string{"a b", "c d"})}
	ref := []read.Input{inMemory("ref", []string{"a b"})}
	for name, c := range map[string]struct {
		gen, ref []read.Input
		o        measure.EvalOptions
		want     error
	}{
		"no files":          {nil, ref, measure.EvalOptions{}, read.ErrOption},
		"unequal pairs":     {gen, ref, measure.EvalOptions{Read: read.Options{Paired: true}}, bleu.ErrUnequal},
		"pairs without ref": {gen, nil, measure.EvalOptions{Read: read.Options{Paired: true}}, read.ErrOption},
		"sampled pairs": {gen, ref, measure.EvalOptions{Read: read.Options{Paired: true,
			Sample: 1}}, read.ErrOption},
		"n-gram order": {gen, ref, measure.EvalOptions{Options: measure.Options{Ngrams: []int{0}}},
			read.ErrOption},
		"variant": {gen, ref, measure.EvalOptions{Options: measure.Options{BLEU: bleu.SelfOptions{Variant: "all"}}},
			bleu.ErrOption},
		"first": {gen, ref, measure.EvalOptions{Options: measure.Options{BLEU: bleu.SelfOptions{Variant: "first"}}},
			bleu.ErrOption},
		"smoothing": {gen, ref, measure.EvalOptions{Options: measure.Options{
			BLEU: bleu.SelfOptions{Options: bleu.Options{Smoothing: "x"}}}},
			bleu.ErrOption},
		"repetition": {gen, ref, measure.EvalOptions{Repetition: -1}, read.ErrOption},
		"nothing left": {gen, ref,
			measure.EvalOptions{Options: measure.Options{Exclude: []string{"A b"}}}, read.ErrNoSentences},
		"missing file": {read.Files([]string{filepath.Join(t.TempDir(), "x")}, nil), ref,
			measure.EvalOptions{}, os.ErrNotExist},
	} {
		if _, err := measure.Eval(c.gen, c.ref, c.o); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestEvalPaired(t *testing.T) {
	t.Parallel()
	lines := []string{"the cat sat on the mat", "a dog ran over the hill"}
	r, err := measure.Eval([]read.Input{inMemory("gen", lines)},
		[]read.Input{inMemory("ref", lines)},
		measure.EvalOptions{Read: read.Options{Paired: true}})
	if err != nil {
		t.Fatal(err)
	}
	m := metric(t, r.Rows[0], "bleu")
	if m.Value != 100 || !strings.Contains(m.Signature, "|refs:paired1|") {
		t.Errorf("BLEU %v, signature %s", m.Value, m.Signature)
	}
}

// Paired sentences belong to the same record. Without one sentence of each the sentences after it
// would meet the wrong lines, and nothing would say so where the numbers happen to agree.
func TestEvalPairedRecords(t *testing.T) {
	t.Parallel()
	const (
		one   = `{"text":"a [MASK]","fillings":[{"text":"a b"}]}`
		two   = `{"text":"a [MASK]","fillings":[{"text":"a b"},{"text":"a c"}]}`
		none  = `{"text":"a [MASK]","fillings":[]}`
		bad   = `{"text":"a [MASK]","error":{"code":"too_long","message":"513 tokens"}}`
		first = `{"text":"a b","line":1,"filled":"a b"}`
		next  = `{"text":"a b","line":1,"filled":"a c"}`
		own   = `{"text":"a b","line":2,"variant":0,"original":"a b"}`
		made  = `{"text":"a c","line":2,"variant":1,"original":"a b","filled":["c"]}`
		empty = `{"text":"","line":3,"error":"empty","error_message":"the text is empty"}`
		text  = `{"text":"a b"}`
	)
	type unpaired = read.PairedError
	failed := &jsonl.Failure{Code: "too_long", Message: "513 tokens"}
	nothing := &jsonl.Failure{Code: "empty", Message: "the text is empty"}
	for name, c := range map[string]struct {
		in   []string
		top  int
		want *unpaired
	}{
		"records":            {[]string{one, "", text, one}, 0, nil},
		"the count agrees":   {[]string{bad, two, one}, 0, &unpaired{Record: 1, Failure: failed}},
		"a failure at last":  {[]string{one, two, bad}, 1, &unpaired{Record: 3, Failure: failed}},
		"two and none":       {[]string{two, none, one}, 0, &unpaired{Record: 1, Sentences: 2}},
		"none":               {[]string{one, none, one}, 0, &unpaired{Record: 2}},
		"none at last":       {[]string{one, one, none}, 0, &unpaired{Record: 3}},
		"two at last":        {[]string{one, two}, 0, &unpaired{Record: 2, Sentences: 2}},
		"the first of each":  {[]string{one, two, one}, 1, nil},
		"two of each":        {[]string{one, two}, 2, &unpaired{Record: 2, Sentences: 2}},
		"rows":               {[]string{first, own, made, one}, 0, nil},
		"two rows":           {[]string{first, next, made}, 0, &unpaired{Record: 1, Sentences: 2}},
		"the first rows":     {[]string{first, next, own, made, one}, 1, nil},
		"no variant":         {[]string{first, own, one, one}, 0, &unpaired{Record: 2}},
		"no variant at last": {[]string{one, first, own}, 0, &unpaired{Record: 3}},
		"a failed row": {[]string{first, made, empty, one}, 0,
			&unpaired{Record: 3, Failure: nothing}},
		"plain lines": {[]string{"a b", "", "a c"}, 0, nil},
	} {
		_, err := measure.Eval([]read.Input{inMemory("gen", c.in)},
			[]read.Input{inMemory("ref", []string{"a b", "a b", "a b"})},
			measure.EvalOptions{Read: read.Options{Paired: true, Top: c.top}})
		if c.want == nil {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		c.want.Name = "gen"
		var got *read.PairedError
		if !errors.As(err, &got) || !errors.Is(err, read.ErrFormat) ||
			!reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// Fillings grouped by record: one perfect pair and one pair without a common word.
func TestEvalGroups(t *testing.T) {
	t.Parallel()
	in := `{"text":"[MASK]","fillings":[{"text":"a b c d e"},{"text":"a b c d e"}]}
{"text":"[MASK]","fillings":[{"text":"p q r s t"},{"text":"v w x y z"}]}`
	r, err := measure.Eval([]read.Input{inMemory("g.jsonl", strings.Split(in, "\n"))}, nil,
		measure.EvalOptions{Options: measure.Options{BLEU: bleu.SelfOptions{Variant: "group"}}})
	if err != nil {
		t.Fatal(err)
	}
	if m := metric(t, r.Rows[0], "self_bleu"); m.Value != 50 || len(m.Warnings) == 0 {
		t.Errorf("self-BLEU %v (%v), want 50 with a warning", m.Value, m.Warnings)
	}
}

// The shared golden values must survive the way through files and tables.
func TestEvalGolden(t *testing.T) {
	t.Parallel()
	dir := testmode.Shared(t, "data")
	path := func(p string) string { return filepath.Join(dir, p) }
	file := path("metrics/gpt-len40-topk100-temp1.000.txt")
	r, err := measure.Eval(read.Files([]string{file}, nil),
		read.Files([]string{path("eval/tbc.5k.txt"), path("eval/wiki103.5k.txt")}, nil),
		measure.EvalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"self_bleu": "40.02", "bleu.tbc.5k": "30.75", "bleu.wiki103.5k": "10.81", "bleu.all": "32.34",
		"unique.self.3": "67.01", "unique.tbc.5k.4": "88.42", "unique.wiki103.5k.1": "2.96",
	} {
		if got := metric(t, r.Rows[0], key).Text(); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

// The DISCS task file and the reference corpora: all 20 original sentences must be
// found among the references and left out, quotation marks or not.
func TestTaskSentencesAreExcluded(t *testing.T) {
	t.Parallel()
	dir := testmode.Shared(t, "data", "eval")
	sources, err := read.Sources(filepath.Join(dir, "discs-infilling-task.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &measure.Comparison{Sources: sources, Samplers: []measure.SamplerRun{{Name: "echo"}}}
	for _, s := range sources {
		c.Samplers[0].Sentences = append(c.Samplers[0].Sentences,
			measure.SentenceRun{Fillings: []infill.Filling{{Text: s.Gold}}, Distinct: 1, Total: 1})
	}
	r, err := compare(c, read.Files([]string{filepath.Join(dir, "wiki103.5k.txt"),
		filepath.Join(dir, "tbc.5k.txt")}, nil),
		measure.CompareOptions{Options: measure.Options{Tokenize: "bert"}})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := r.References[0].Excluded, r.References[1].Excluded; a != 10 || b != 10 {
		t.Errorf("%d and %d sentences left out, want 10 and 10", a, b)
	}
	if got, want := metric(t, r.Rows[0], "bleu").Value, r.Gold.Value; got != want {
		t.Errorf("echoing the originals scores %v, the originals %v", got, want)
	}
}

func TestMetricText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m    measure.Metric
		want string
	}{
		{measure.Metric{Value: 1234567, Decimals: 0}, "1,234,567"},
		{measure.Metric{Value: -12345, Decimals: 0}, "-12,345"},
		{measure.Metric{Value: 9999, Decimals: 0}, "9999"},
		{measure.Metric{Value: 8.7049, Decimals: 2}, "8.70"},
		{measure.Metric{Value: math.NaN()}, "n/a"},
		{measure.Metric{Value: math.Inf(1)}, "n/a"},
	} {
		if got := c.m.Text(); got != c.want {
			t.Errorf("%v: %s, want %s", c.m.Value, got, c.want)
		}
	}
}

// Sentences that were infilled and stand in the references are told of, until they
// are left out.
func TestEvalGoldAmongReferences(t *testing.T) {
	t.Parallel()
	generated := []read.Input{inMemory("out.jsonl", []string{
		`{"gold":"The dog sleeps .","fillings":[{"text":"The cat sleeps ."},{"text":"The fox sleeps ."}]}`,
		`{"gold":"a bird sings","fillings":[{"text":"a bird flies"}]}`,
		`{"gold":"...","fillings":[{"text":"a bird flies"}]}`,
		`{"text":"no gold","fillings":[{"text":"a horse runs"}]}`,
	})}
	refs := []read.Input{inMemory("ref", []string{"the dog  sleeps.", "another one", "?!"})}
	for _, c := range []struct {
		exclude []string
		want    string
	}{{nil, "1 of 3 sentences that were infilled"}, {[]string{"The dog sleeps ."}, ""}} {
		r, err := measure.Eval(generated, refs,
			measure.EvalOptions{Options: measure.Options{Exclude: c.exclude}})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(r.Files[0].Warnings, "\n")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("without %q: %q", c.exclude, got)
		}
	}
}

// The seed of samples decides them, and is printed.
func TestSeedOfSamples(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 60 {
		lines = append(lines, strings.Repeat("word ", i+1))
	}
	sampled := func(seed uint64) string {
		r, err := measure.Eval([]read.Input{inMemory("a", lines)}, nil, measure.EvalOptions{
			Read: read.Options{Sample: 5, Seed: seed}})
		if err != nil {
			t.Fatal(err)
		}
		m, _ := r.Rows[0].Get("unique.self.1")
		n, _ := r.Rows[0].Get("compression_ratio")
		return fmt.Sprint(r.Notes, m.Detail, n.Value)
	}
	two := sampled(2)
	if !strings.Contains(two, "seed 2") || two != sampled(2) || two == sampled(1) {
		t.Errorf("%s\n%s", two, sampled(1))
	}
}
