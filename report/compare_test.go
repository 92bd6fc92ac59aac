package report_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"infill/infill"
	"infill/metrics/bleu"
	"infill/report/measure"
	"infill/report/read"
	"infill/report/show"
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
func small() *measure.Comparison {
	fill := func(words ...string) []infill.Filling {
		var out []infill.Filling
		for _, w := range words {
			out = append(out, infill.Filling{Text: "a " + w + " b c", Spans: [][2]int{{2, 2 + len(w)}},
				Score: -1})
		}
		return out
	}
	return &measure.Comparison{
		Budget:  infill.BudgetEvaluations,
		Sources: []read.Source{{Text: "a [MASK] b c", Gold: "a x b c"}},
		Samplers: []measure.SamplerRun{
			{Name: "one", Acceptance: math.NaN(), Evaluations: 100,
				Sentences: []measure.SentenceRun{{Fillings: fill("x", "y", "x"), Distinct: 2, Total: 4}},
				Chains: []measure.ChainTrace{
					{Evaluations: []float64{1, 2, 3}, Energy: []float64{-3, math.Inf(-1), -1}},
					{Evaluations: []float64{1, 2, 3}, Energy: []float64{-1, -1, -1}}}},
			{Name: "two", Acceptance: 0.5, Evaluations: 200,
				Sentences: []measure.SentenceRun{{Fillings: fill("z", "w"), Distinct: 2, Total: 4}}},
		},
	}
}

func TestCompareNotesAndExamples(t *testing.T) {
	t.Parallel()
	r, err := compare(small(), nil, measure.CompareOptions{Examples: 3})
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

// A best is marked where the interval of its difference excludes 0, and nowhere else: not without
// intervals, and not where budgets are unequal.
func TestBestMarks(t *testing.T) {
	t.Parallel()
	const mark = `class="best"`
	sure, all := 0, 0
	for seed := range uint64(5) {
		c := pairs(rand.New(rand.NewPCG(seed, 1)), 8)
		for s := range c.Samplers {
			c.Samplers[s].Evaluations = 1000
		}
		marks := func(o measure.CompareOptions) (*measure.CompareResult, int) {
			r, err := compare(c, nil, o)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := show.Compare(r).HTML(&b); err != nil {
				t.Fatal(err)
			}
			return r, strings.Count(b.String(), mark)
		}
		ci := measure.CompareOptions{Options: withIntervals(0, bleu.Confidence{Resamples: 50})}
		r, got := marks(ci)
		want := 0
		for _, m := range r.Differences[0].Metrics {
			if m.Better != 0 && len(m.Warnings) == 0 && (m.Low > 0 || m.High < 0) {
				want++
			}
		}
		if got != want {
			t.Errorf("%d marks, %d differences without 0", got, want)
		}
		sure, all = sure+want, all+len(r.Differences[0].Metrics)
		if _, got := marks(measure.CompareOptions{}); got != 0 {
			t.Errorf("%d marks without intervals", got)
		}
		c.Samplers[1].Evaluations *= 2
		if _, got := marks(ci); got != 0 {
			t.Errorf("%d marks with unequal budgets", got)
		}
	}
	if sure == 0 || sure == all {
		t.Errorf("%d of %d differences without 0, so that nothing was tried", sure, all)
	}
}

// The report says whether the budgets are equal, in the unit that was chosen.
func TestBudgetNotes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		budget       infill.Budget
		evals, rows  [2]int64
		says, silent string
	}{
		{infill.BudgetEvaluations, [2]int64{1000, 1020}, [2]int64{1000, 4000},
			"equal budgets: 1000 to 1020 model evaluations, which is at most 2 % apart; sampling ends", "unequal"},
		{infill.BudgetEvaluations, [2]int64{1000, 1021}, [2]int64{},
			"unequal budgets: 1000 to 1021 model evaluations, which is more than 2 % apart", "sampling ends"},
		{infill.BudgetRows, [2]int64{1000, 4000}, [2]int64{4000, 4001},
			"equal budgets: 4000 to 4001 model rows", "unequal"},
		{infill.BudgetSteps, [2]int64{500, 1000}, [2]int64{},
			"equal numbers of steps, not of model evaluations: 500 to 1000", "budgets"},
	} {
		cmp := small()
		cmp.Budget, cmp.Notes = c.budget, []string{"one line was left out"}
		for i := range cmp.Samplers {
			cmp.Samplers[i].Evaluations, cmp.Samplers[i].Rows = c.evals[i], c.rows[i]
		}
		r, err := compare(cmp, nil, measure.CompareOptions{})
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
		r, err := compare(cmp, nil, measure.CompareOptions{Top: top})
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, says) {
			t.Errorf("top %d: %q", top, notes)
		}
	}
}

func renderers(r *measure.CompareResult) map[string]func(io.Writer) error {
	return map[string]func(io.Writer) error{"text": show.Compare(r).Text, "json": show.Compare(r).JSON,
		"markdown": show.Compare(r).Markdown, "html": show.Compare(r).HTML}
}

func TestCompareErrors(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(c *measure.Comparison){
		"no samplers":       func(c *measure.Comparison) { c.Samplers = nil },
		"no sentences":      func(c *measure.Comparison) { c.Sources = nil },
		"same names":        func(c *measure.Comparison) { c.Samplers[1].Name = "one" },
		"missing sentence":  func(c *measure.Comparison) { c.Samplers[0].Sentences = nil },
		"span past the end": func(c *measure.Comparison) { c.Samplers[0].Sentences[0].Fillings[0].Spans[0] = [2]int{2, 99} },
		"span backwards":    func(c *measure.Comparison) { c.Samplers[0].Sentences[0].Fillings[0].Spans[0] = [2]int{3, 2} },
		"negative span":     func(c *measure.Comparison) { c.Samplers[0].Sentences[0].Fillings[0].Spans[0] = [2]int{-1, 2} },
		"trace of nothing":  func(c *measure.Comparison) { c.Samplers[0].Chains[0].Sentence = 1 },
	} {
		c := small()
		spoil(c)
		if _, err := compare(c, nil, measure.CompareOptions{}); !errors.Is(err, read.ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A sampler that filled nothing has no numbers, and says why.
	c := small()
	c.Samplers[0].Sentences[0] = measure.SentenceRun{Err: "too long"}
	r, err := compare(c, []read.Input{inMemory("ref", []string{"q r s t"})},
		measure.CompareOptions{})
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
	refs := func() []read.Input {
		in := inMemory("ref", []string{"a x b c", "a y b c d"})
		open := in.Open
		in.Open = func() (io.ReadCloser, error) { opened++; return open() }
		return []read.Input{in}
	}
	c := small()
	p, err := measure.Prepare(c.Sources, refs(), measure.CompareOptions{})
	if err != nil || opened != 1 {
		t.Fatalf("%v, opened %d times", err, opened)
	}
	got, err := p.Compare(c)
	if err != nil || opened != 1 {
		t.Fatalf("%v, opened %d times", err, opened)
	}
	want, err := compare(small(), refs(), measure.CompareOptions{})
	if err != nil || opened != 2 {
		t.Fatalf("%v, opened %d times", err, opened)
	}
	var a, b bytes.Buffer
	if err := errors.Join(show.Compare(got).JSON(&a), show.Compare(want).JSON(&b)); err != nil {
		t.Fatal(err)
	}
	if a.String() != b.String() {
		t.Errorf("in two parts\n%s\nin one\n%s", &a, &b)
	}
	if r := got.References[0]; r.Sentences != 1 || r.Excluded != 1 {
		t.Errorf("the original was not left out: %+v", r)
	}
	c.Sources = []read.Source{{Text: "a [MASK] b c", Gold: "a y b c d"}}
	if _, err := p.Compare(c); !errors.Is(err, read.ErrOption) {
		t.Errorf("other sources: %v", err)
	}
	blank := []read.Input{inMemory("ref", []string{"", " "})}
	_, err = measure.Prepare(c.Sources, blank, measure.CompareOptions{})
	if !errors.Is(err, read.ErrNoSentences) {
		t.Errorf("blank references: %v", err)
	}
	if _, err := measure.Prepare(c.Sources, nil, measure.CompareOptions{Top: -1}); !errors.Is(err,
		read.ErrOption) {
		t.Errorf("options: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
