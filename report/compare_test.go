package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

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
	fill := func(words ...string) []report.Filling {
		var out []report.Filling
		for _, w := range words {
			out = append(out, report.Filling{Text: "a " + w + " b c", Spans: [][2]int{{2, 2 + len(w)}}, Score: -1})
		}
		return out
	}
	return &report.Comparison{
		Sources: []report.Source{{Text: "a [MASK] b c", Gold: "a x b c"}},
		Samplers: []report.SamplerRun{
			{Name: "one", Acceptance: math.NaN(), Evaluations: 100, Sentences: []report.SentenceRun{{Fillings: fill("x", "y", "x"), Distinct: 2, Total: 4}},
				Chains: []report.ChainTrace{{Energy: []float64{-3, math.Inf(-1), -1}}, {Energy: []float64{-1, -1, -1}}}},
			{Name: "two", Acceptance: 0.5, Evaluations: 200, Sentences: []report.SentenceRun{{Fillings: fill("z", "w"), Distinct: 2, Total: 4}}},
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
	if e := r.Examples[0].Samplers[0]; e.Repeated != 1 || e.Generated != 3 || !e.Texts[2].Parts[1].Repeated || e.Texts[0].Parts[1].Repeated {
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

// Traces that know their evaluations are averaged at equal evaluations, however
// many steps they took.
func TestTracesByEvaluations(t *testing.T) {
	t.Parallel()
	c := small()
	c.Sources = append(c.Sources, c.Sources[0])
	for i := range c.Samplers {
		c.Samplers[i].Sentences = append(c.Samplers[i].Sentences, c.Samplers[i].Sentences[0])
	}
	c.Samplers[0].Chains = []report.ChainTrace{
		{Sentence: 0, Evaluations: []float64{2, 3, 4}, Energy: []float64{-4, -3, -2}, Accepted: []float64{math.NaN(), 0, 1}},
		{Sentence: 1, Evaluations: []float64{1.5, 1.5, 2.5, 4.5}, Energy: []float64{-9, -8, math.Inf(1), -6}, Accepted: []float64{math.NaN(), 0, 1, 1}},
	}
	r, err := report.Compare(c, nil, report.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tr := r.Traces[0]
	// At 2: −4 and −8. At 3: −3 and nothing finite. At 4: −2, the other as it was. At 4.5: −2 and −6.
	for name, c := range map[string]struct{ got, want []float64 }{
		"x":          {tr.X, []float64{2, 3, 4, 4.5}},
		"energy":     {tr.Energy, []float64{-6, -3, -2, -4}},
		"acceptance": {tr.Acceptance, []float64{0, 0.5, 1, 1}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s %v, want %v", name, c.got, c.want)
		}
	}
	if !tr.Evaluations {
		t.Error("the axis is not evaluations")
	}
}

// A few chains that go on past the budget do not bend the course of acceptance.
func TestAcceptanceEndsWithHalfTheChains(t *testing.T) {
	t.Parallel()
	for name, evaluations := range map[string]bool{"by evaluations": true, "by step": false} {
		c := small()
		var chains []report.ChainTrace
		for k := range 10 {
			steps := 20
			if k >= 7 {
				steps = 30 // and accept nothing from then on
			}
			tr := report.ChainTrace{}
			for s := range steps {
				tr.Energy = append(tr.Energy, -1)
				tr.Accepted = append(tr.Accepted, float64(min(1, max(0, 20-s))))
				if evaluations {
					tr.Evaluations = append(tr.Evaluations, float64(s+1))
				}
			}
			chains = append(chains, tr)
		}
		c.Samplers[0].Chains = chains
		r, err := report.Compare(c, nil, report.CompareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := r.Traces[0].Acceptance
		if len(got) != 30 || len(r.Traces[0].Energy) != 30 {
			t.Fatalf("%s: %d acceptances", name, len(got))
		}
		for k, a := range got {
			if k < 20 && a != 1 || k >= 20 && !math.IsNaN(a) {
				t.Errorf("%s: acceptance %v at step %d", name, a, k+1)
			}
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
	if strings.Contains(marked(func(c *report.Comparison) { c.Samplers[1].Evaluations *= 2 }, report.CompareOptions{}), mark) {
		t.Error("unequal budgets are marked")
	}
	more := func(c *report.Comparison) {
		fill := &c.Samplers[0].Sentences[0].Fillings
		*fill = append(*fill, (*fill)[0])
	}
	if page := marked(more, report.CompareOptions{}); strings.Contains(page[:strings.Index(page, "What the runs cost")], mark) {
		t.Error("other numbers of fillings are marked")
	}
	// The intervals of two sentences each are as wide as can be.
	ci := report.CompareOptions{Options: report.Options{Confidence: true, Resamples: 50, Ngrams: []int{}}}
	page := marked(func(c *report.Comparison) {
		s := c.Samplers
		s[0].Sentences[0].Fillings = append(s[0].Sentences[0].Fillings, s[1].Sentences[0].Fillings...)
		s[1].Sentences[0].Fillings = append(s[1].Sentences[0].Fillings, s[1].Sentences[0].Fillings[0], s[0].Sentences[0].Fillings[0])
		s[0].Sentences[0].Fillings[3].Text += " d"
	}, ci)
	if table := page[:strings.Index(page, "What the runs cost")]; !strings.Contains(table, `class="iv"`) || strings.Contains(table, mark) {
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
		{"", [2]int64{1000, 1019}, [2]int64{1000, 4000}, "equal budgets: 1000 to 1019 model evaluations", "unequal"},
		{"", [2]int64{1000, 1021}, [2]int64{}, "unequal budgets: 1000 to 1021 model evaluations", "equal budgets: 1000 to 1021 model evaluations; sampling ends"},
		{report.BudgetRows, [2]int64{1000, 4000}, [2]int64{4000, 4001}, "equal budgets: 4000 to 4001 model rows", "unequal"},
		{report.BudgetSteps, [2]int64{500, 1000}, [2]int64{}, "equal numbers of steps, not of model evaluations: 500 to 1000", "budgets"},
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
		if !strings.Contains(notes, c.says) || strings.Contains(notes, c.silent) || !strings.Contains(notes, "left out") {
			t.Errorf("%+v: %q", c, notes)
		}
	}
}

func renderers(r *report.CompareResult) map[string]func(io.Writer) error {
	return map[string]func(io.Writer) error{"text": r.WriteText, "json": r.WriteJSON, "markdown": r.WriteMarkdown, "html": r.WriteHTML}
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
	r, err := report.Compare(c, []report.Input{report.Strings("ref", []string{"q r s t"})}, report.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"self_bleu", "bleu", "unique.ref.2", "score", "distinct_fillings"} {
		if m := metric(t, r.Rows[0], key); m.OK() || len(m.Warnings) == 0 {
			t.Errorf("%s of nothing is %v, warnings %q", key, m.Value, m.Warnings)
		}
	}
}

// A writer's error reaches the caller from every renderer.
func TestRenderWriteErrors(t *testing.T) {
	t.Parallel()
	r, err := demoResult()
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	for name, render := range renderers(r) {
		if err := render(failing{full}); !errors.Is(err, full) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

const hostile = "</style><script>alert(1)</script><img src=x onerror=alert(2)>\"'`|&\x1b[2J\u202e{{.}}"

func hostileResult(t *testing.T) *report.CompareResult {
	t.Helper()
	c := small()
	c.Title, c.Command, c.Model, c.Version, c.Protocol = hostile, hostile, hostile, hostile, hostile
	c.Sources[0] = report.Source{ID: hostile, Text: hostile, Gold: hostile}
	for i := range c.Samplers {
		s := &c.Samplers[i]
		s.Name = hostile + s.Name
		s.Params = hostile
		s.Sentences[0].Fillings = append(s.Sentences[0].Fillings,
			report.Filling{Text: hostile, Spans: [][2]int{{0, 8}, {10, len(hostile)}}, Score: math.Inf(-1)})
		s.Chains = []report.ChainTrace{{Energy: []float64{-2, -1}, Accepted: []float64{0, 1}}}
	}
	r, err := report.Compare(c, []report.Input{report.Strings(hostile, []string{"a b c d", "x"})}, report.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var tag = regexp.MustCompile(`(?s)<[^<>]*>`)

// Nothing in names or sentences may become markup, leave the page, or reach the
// terminal as a control sequence.
func TestHostileText(t *testing.T) {
	t.Parallel()
	r := hostileResult(t)
	out := map[string]string{}
	for name, render := range renderers(r) {
		var b bytes.Buffer
		if err := render(&b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = b.String()
	}
	for _, name := range []string{"text", "markdown"} {
		if strings.ContainsAny(out[name], "\x1b\u202e") {
			t.Errorf("%s: a control character came through", name)
		}
	}
	if strings.Contains(out["markdown"], "<script") || strings.Contains(out["markdown"], "<img") {
		t.Error("markdown: HTML came through")
	}
	page := out["html"]
	for _, bad := range []string{"<script", "<img", "http:", "https:", "url(", "@import", "<link", "src="} {
		// Escaped text may say src=, a tag may not.
		for _, m := range tag.FindAllString(page, -1) {
			if strings.Contains(strings.ToLower(m), bad) && !strings.Contains(m, "title=") && !strings.Contains(m, "aria-label=") {
				t.Errorf("html: tag %q has %q", m, bad)
			}
		}
	}
	if n := strings.Count(page, "</style>"); n != 1 {
		t.Errorf("html: %d style ends", n)
	}
	// After escaping, quotes inside attribute values cannot end them: every title
	// attribute reads back as one.
	if strings.Contains(page, `onerror=alert(2)>"`) {
		t.Error("html: an attribute was left open")
	}
	svgs := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1)
	if len(svgs) == 0 {
		t.Fatal("html: no charts")
	}
	for _, s := range svgs {
		d := xml.NewDecoder(strings.NewReader(s))
		for {
			tok, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("chart is not well-formed: %v", err)
			}
			if e, ok := tok.(xml.StartElement); ok {
				for _, a := range e.Attr {
					if strings.HasPrefix(strings.ToLower(a.Name.Local), "on") || a.Name.Local == "href" {
						t.Errorf("chart: attribute %s on %s", a.Name.Local, e.Name.Local)
					}
				}
			}
		}
	}
}

// The page must load nothing: no address outside it, and a policy that forbids it.
func TestHTMLIsSelfContained(t *testing.T) {
	t.Parallel()
	r, err := demoResult()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if !strings.Contains(page, `content="default-src 'none'; style-src 'unsafe-inline'"`) {
		t.Error("no content security policy")
	}
	for _, bad := range []string{"http://", "https://", "<script", "<link", " src=", "@import", "url("} {
		if strings.Contains(page, bad) {
			t.Errorf("page has %q", bad)
		}
	}
	for _, want := range []string{"prefers-color-scheme: dark", "@media print", "model evaluations per chain", "nats", "self-BLEU"} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %q", want)
		}
	}
	if strings.Contains(page, "NaN") || strings.Contains(page, "Inf") {
		t.Error("page prints a number that is none")
	}
}
