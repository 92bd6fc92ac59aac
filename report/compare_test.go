package report_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"infill/infill"
	"infill/report"
)

func TestCompareNumbers(t *testing.T) {
	t.Parallel()
	r, err := demoResult()
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 5 || len(r.Traces) != 5 || len(r.Examples) != 2 {
		t.Fatalf("%d rows, %d traces, %d examples", len(r.Rows), len(r.Traces), len(r.Examples))
	}
	gibbs := r.Rows[0]
	if m := metric(t, gibbs, "acceptance"); m.OK() {
		t.Errorf("gibbs accepts %v", m.Value)
	}
	if m := metric(t, gibbs, "wall"); m.Text() != "41.2" {
		t.Errorf("wall time %s", m.Text())
	}
	// 30,000 evaluations over 6 × 5 chains of 50 steps are 20 a step.
	if x := r.Traces[0].X; x[0] != 20 || x[49] != 1000 || !r.Traces[0].Evaluations {
		t.Errorf("trace runs from %v to %v evaluations", x[0], x[49])
	}
	if m := metric(t, r.Rows[1], "rows"); m.Text() != "120,000" {
		t.Errorf("rows %s", m.Text())
	}
	if m := metric(t, r.Rows[1], "steps"); m.Text() != "50.0" {
		t.Errorf("steps %s", m.Text())
	}
	if r.Traces[0].Acceptance != nil || r.Traces[1].Acceptance == nil {
		t.Error("acceptance traces of the wrong samplers")
	}
	if r.Gold == nil || !r.Gold.OK() {
		t.Error("no BLEU of the original sentences")
	}
}

// small is a comparison of one sentence and two samplers to vary.
func small() *report.Comparison {
	fill := func(words ...string) []infill.Filling {
		var out []infill.Filling
		for _, w := range words {
			out = append(out, infill.Filling{Text: "a " + w + " b c", Spans: [][2]int{{2, 2 + len(w)}},
				Score: -1})
		}
		return out
	}
	return &report.Comparison{
		Sources: []report.Source{{Text: "a [MASK] b c", Gold: "a x b c"}},
		Samplers: []report.SamplerRun{
			{Name: "one", Acceptance: math.NaN(), Evaluations: 100,
				Sentences: []report.SentenceRun{{Fillings: fill("x", "y", "x"), Distinct: 2, Total: 4}},
				Chains: []report.ChainTrace{{Energy: []float64{-3, math.Inf(-1), -1}},
					{Energy: []float64{-1, -1, -1}}}},
			{Name: "two", Acceptance: 0.5, Evaluations: 200,
				Sentences: []report.SentenceRun{{Fillings: fill("z", "w"), Distinct: 2, Total: 4}}},
		},
	}
}

func TestCompareNotesAndExamples(t *testing.T) {
	t.Parallel()
	r, err := report.Compare(small(), nil, report.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(r.Notes, "\n")
	for _, want := range []string{"not comparable", "unequal budgets: 100 to 200", "no references"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes do not say %q:\n%s", want, notes)
		}
	}
	if e := r.Examples[0].Samplers[0]; e.Repeated != 1 || e.Generated != 3 ||
		!e.Texts[2].Parts[1].Repeated || e.Texts[0].Parts[1].Repeated {
		t.Errorf("example %+v", e)
	}
	if e := r.Traces[0].Energy; e[0] != -2 || e[1] != -1 || e[2] != -1 {
		t.Errorf("mean energies %v; the infinite one must be left out", e)
	}
	if _, ok := r.Rows[0].Get("bleu"); ok {
		t.Error("corpus BLEU without references")
	}
	for name, render := range renderers(r) {
		if err := render(io.Discard); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What cannot be compared has no best: other numbers of fillings, other budgets,
// intervals that overlap.
func TestBestMarks(t *testing.T) {
	t.Parallel()
	const mark = `class="best"`
	marked := func(change func(*report.Comparison), o report.CompareOptions) string {
		c := small()
		s := c.Samplers
		// Equal numbers of fillings and budgets; the second sampler is more diverse.
		s[0].Sentences[0].Fillings = s[0].Sentences[0].Fillings[:2]
		s[0].Sentences[0].Fillings[1] = s[0].Sentences[0].Fillings[0]
		s[0].Evaluations = s[1].Evaluations
		change(c)
		r, err := report.Compare(c, nil, o)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := r.WriteHTML(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	none := func(*report.Comparison) {}
	if !strings.Contains(marked(none, report.CompareOptions{}), mark) {
		t.Error("what can be compared has no mark")
	}
	if strings.Contains(marked(func(c *report.Comparison) { c.Samplers[1].Evaluations *= 2 },
		report.CompareOptions{}), mark) {
		t.Error("unequal budgets are marked")
	}
	more := func(c *report.Comparison) {
		fill := &c.Samplers[0].Sentences[0].Fillings
		*fill = append(*fill, (*fill)[0])
	}
	if page := marked(more, report.CompareOptions{}); strings.Contains(page[:strings.Index(page,
		"What the runs cost")], mark) {
		t.Error("other numbers of fillings are marked")
	}
	// The intervals of two sources each are as wide as can be.
	ci := report.CompareOptions{Options: report.Options{Confidence: true, Resamples: 50,
		Ngrams: []int{}}}
	page := marked(func(c *report.Comparison) {
		one, two := &c.Samplers[0], &c.Samplers[1]
		c.Sources = append(c.Sources, c.Sources[0])
		a, b := one.Sentences[0].Fillings, two.Sentences[0].Fillings
		two.Sentences[0].Fillings = append(slices.Clone(b), a[0])
		for run, more := range map[*report.SamplerRun][]infill.Filling{one: slices.Clone(b), two: a[1:]} {
			run.Sentences = append(run.Sentences, report.SentenceRun{Fillings: more, Distinct: 2, Total: 4})
		}
		one.Sentences[1].Fillings[1].Text += " d"
	}, ci)
	if table := page[:strings.Index(page, "What the runs cost")]; !strings.Contains(table,
		`class="iv"`) || strings.Contains(table, mark) {
		t.Error("intervals that overlap are marked, or there are none")
	}
}

// The report says whether the budgets are equal, in the unit that was chosen.
func TestBudgetNotes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		budget       string
		evals, rows  [2]int64
		says, silent string
	}{
		{"", [2]int64{1000, 1020}, [2]int64{1000, 4000},
			"equal budgets: 1000 to 1020 model evaluations, which is at most 2 % apart; sampling ends", "unequal"},
		{"", [2]int64{1000, 1021}, [2]int64{},
			"unequal budgets: 1000 to 1021 model evaluations, which is more than 2 % apart", "sampling ends"},
		{report.BudgetRows, [2]int64{1000, 4000}, [2]int64{4000, 4001},
			"equal budgets: 4000 to 4001 model rows", "unequal"},
		{report.BudgetSteps, [2]int64{500, 1000}, [2]int64{},
			"equal numbers of steps, not of model evaluations: 500 to 1000", "budgets"},
	} {
		cmp := small()
		cmp.Budget, cmp.Notes = c.budget, []string{"one line was left out"}
		for i := range cmp.Samplers {
			cmp.Samplers[i].Evaluations, cmp.Samplers[i].Rows = c.evals[i], c.rows[i]
		}
		r, err := report.Compare(cmp, nil, report.CompareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(r.Notes, "\n")
		if !strings.Contains(notes, c.says) || strings.Contains(notes, c.silent) ||
			!strings.Contains(notes, "left out") {
			t.Errorf("%+v: %q", c, notes)
		}
	}
}

// Where sentences have fewer fillings than count at most, the note says so.
func TestFillingsNote(t *testing.T) {
	t.Parallel()
	for top, says := range map[int]string{
		5: "the best 5 fillings of each at most: N = ", 1: "the best 1 filling of each: N = ",
	} {
		cmp := small()
		cmp.Samplers[1].Sentences = cmp.Samplers[0].Sentences
		r, err := report.Compare(cmp, nil, report.CompareOptions{Top: top})
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, says) {
			t.Errorf("top %d: %q", top, notes)
		}
	}
}

func renderers(r *report.CompareResult) map[string]func(io.Writer) error {
	return map[string]func(io.Writer) error{"text": r.WriteText, "json": r.WriteJSON,
		"markdown": r.WriteMarkdown, "html": r.WriteHTML}
}

func TestCompareErrors(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(c *report.Comparison){
		"no samplers":       func(c *report.Comparison) { c.Samplers = nil },
		"no sentences":      func(c *report.Comparison) { c.Sources = nil },
		"same names":        func(c *report.Comparison) { c.Samplers[1].Name = "one" },
		"missing sentence":  func(c *report.Comparison) { c.Samplers[0].Sentences = nil },
		"span past the end": func(c *report.Comparison) { c.Samplers[0].Sentences[0].Fillings[0].Spans[0] = [2]int{2, 99} },
		"span backwards":    func(c *report.Comparison) { c.Samplers[0].Sentences[0].Fillings[0].Spans[0] = [2]int{3, 2} },
		"negative span":     func(c *report.Comparison) { c.Samplers[0].Sentences[0].Fillings[0].Spans[0] = [2]int{-1, 2} },
		"trace of nothing":  func(c *report.Comparison) { c.Samplers[0].Chains[0].Sentence = 1 },
	} {
		c := small()
		spoil(c)
		if _, err := report.Compare(c, nil, report.CompareOptions{}); !errors.Is(err, report.ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A sampler that filled nothing has no numbers, and says why.
	c := small()
	c.Samplers[0].Sentences[0] = report.SentenceRun{Err: "too long"}
	r, err := report.Compare(c, []report.Input{report.Strings("ref", []string{"q r s t"})},
		report.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"self_bleu", "bleu", "unique.ref.2", "score", "distinct_fillings"} {
		if m := metric(t, r.Rows[0], key); m.OK() || len(m.Warnings) == 0 {
			t.Errorf("%s of nothing is %v, warnings %q", key, m.Value, m.Warnings)
		}
	}
}

// References are read once, before there are samplers, and for the sources that they are used with.
func TestPrepare(t *testing.T) {
	t.Parallel()
	opened := 0
	refs := func() []report.Input {
		in := report.Strings("ref", []string{"a x b c", "a y b c d"})
		open := in.Open
		in.Open = func() (io.ReadCloser, error) { opened++; return open() }
		return []report.Input{in}
	}
	c := small()
	p, err := report.Prepare(c.Sources, refs(), report.CompareOptions{})
	if err != nil || opened != 1 {
		t.Fatalf("%v, opened %d times", err, opened)
	}
	got, err := p.Compare(c)
	if err != nil || opened != 1 {
		t.Fatalf("%v, opened %d times", err, opened)
	}
	want, err := report.Compare(small(), refs(), report.CompareOptions{})
	if err != nil || opened != 2 {
		t.Fatalf("%v, opened %d times", err, opened)
	}
	var a, b bytes.Buffer
	if err := errors.Join(got.WriteJSON(&a), want.WriteJSON(&b)); err != nil {
		t.Fatal(err)
	}
	if a.String() != b.String() {
		t.Errorf("in two parts\n%s\nin one\n%s", &a, &b)
	}
	if r := got.References[0]; r.Sentences != 1 || r.Excluded != 1 {
		t.Errorf("the original was not left out: %+v", r)
	}
	c.Sources = []report.Source{{Text: "a [MASK] b c", Gold: "a y b c d"}}
	if _, err := p.Compare(c); !errors.Is(err, report.ErrOption) {
		t.Errorf("other sources: %v", err)
	}
	blank := []report.Input{report.Strings("ref", []string{"", " "})}
	_, err = report.Prepare(c.Sources, blank, report.CompareOptions{})
	if !errors.Is(err, report.ErrNoSentences) {
		t.Errorf("blank references: %v", err)
	}
	if _, err := report.Prepare(c.Sources, nil, report.CompareOptions{Top: -1}); !errors.Is(err,
		report.ErrOption) {
		t.Errorf("options: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
