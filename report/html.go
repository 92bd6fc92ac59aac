package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
)

//go:embed templates
var templates embed.FS

// page is the data of report.html.tmpl. Texts are escaped by the template; only
// the style sheet and finished drawings are trusted.
type page struct {
	Title, Lede, Footer string
	Facts               [][2]string
	Style               template.CSS
	Tables              []htmlTable
	FiguresTitle        string
	Figures             []figureRow
	Examples            []Example
	References          []string
	Notes, Warnings     []string
	Signatures          []signed
}

type htmlTable struct {
	Title, Caption, First string
	Groups                []htmlGroup
	Heads                 []htmlHead
	Rows                  []htmlRow
}

type htmlGroup struct {
	Label string
	Span  int
}

// swatch is a series' colour beside its name.
type swatch struct{ Class int }

type htmlHead struct {
	Key         *swatch
	Label, Unit string
}

type htmlRow struct {
	Key              *swatch
	Name, Unit, Note string
	Cells            []htmlCell
}

type htmlCell struct {
	Text, Interval, Title, Class string
	Warned                       bool
}

type figureRow struct {
	Class string
	Items []figure
}

type figure struct {
	SVG     template.HTML
	Caption string
}

func render(w io.Writer, p *page) error {
	t, err := template.ParseFS(templates, "templates/report.html.tmpl")
	if err != nil {
		return fmt.Errorf("report template: %w", err)
	}
	css, err := templates.ReadFile("templates/style.css")
	if err != nil {
		return fmt.Errorf("report style: %w", err)
	}
	p.Style = template.CSS(css) //nolint:gosec // our own file
	return t.Execute(w, p)
}

// cellOf renders a metric; best marks the best of its column.
func cellOf(m Metric, best bool) htmlCell {
	c := htmlCell{Text: strings.Replace(m.Text(), "-", "−", 1), Warned: len(m.Warnings) > 0}
	if m.OK() && m.HasInterval() {
		c.Interval = m.Interval()
	}
	if !m.OK() {
		c.Class = "none"
	} else if best {
		c.Class = "best"
	}
	var title []string
	for _, s := range append([]string{m.Signature, m.Detail}, m.Warnings...) {
		if s != "" {
			title = append(title, s)
		}
	}
	c.Title = strings.Join(title, "\n")
	return c
}

// tableOf lays the given columns out with one row per Row. With mark, the best of
// each column is marked.
func tableOf(rows []Row, cols []int, notes []string, mark bool) htmlTable {
	t := htmlTable{First: "sampler"}
	grouped := false
	for _, c := range cols {
		m := rows[0].Metrics[c]
		t.Heads = append(t.Heads, htmlHead{Label: m.Label, Unit: m.Unit})
		if n := len(t.Groups); n > 0 && t.Groups[n-1].Label == m.Group {
			t.Groups[n-1].Span++
		} else {
			t.Groups = append(t.Groups, htmlGroup{m.Group, 1})
		}
		grouped = grouped || m.Group != ""
	}
	if !grouped {
		t.Groups = nil
	}
	marks := make([]map[int]bool, len(cols))
	for k, c := range cols {
		if mark {
			marks[k] = best(rows, c)
		}
	}
	for i, r := range rows {
		row := htmlRow{Key: &swatch{i % seriesClasses}, Name: r.Name}
		if i < len(notes) {
			row.Note = notes[i]
		}
		for k, c := range cols {
			row.Cells = append(row.Cells, cellOf(r.Metrics[c], marks[k][i]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// WriteHTML writes the comparison as one self-contained file: tables, charts,
// examples and signatures, for light and dark screens and for print.
func (r *CompareResult) WriteHTML(w io.Writer) error {
	quality, run := halves(r.Rows)
	mark := !r.unequal
	t1, t2 := tableOf(r.Rows, quality, r.Params, mark), tableOf(r.Rows, run, nil, mark)
	t1.Title = "Diversity and quality"
	t1.Caption = "Lower self-BLEU and more unique n-grams mean more diverse fillings; higher corpus BLEU means closer to the references. " + r.intervalNote()
	if mark {
		t1.Caption = "Underlined: best of its column, where the columns can be compared and no intervals overlap. " + t1.Caption
	}
	t2.Title = "What the runs cost"
	t2.Caption = "Distinct fillings are counted over all chains of a sentence, before the best are kept."
	p := &page{
		Title: r.Title, Lede: r.Protocol, Tables: []htmlTable{t1, t2}, FiguresTitle: "Charts",
		Examples: r.Examples, References: referenceLines(r.References), Notes: r.Notes,
		Warnings: r.allWarnings(), Signatures: r.signed(),
		Footer: strings.TrimSpace("Made by infill " + r.Version),
	}
	for _, f := range r.facts() {
		if f[0] != "protocol" && f[0] != "version" {
			p.Facts = append(p.Facts, f)
		}
	}
	var points []planePoint
	colour := map[string]int{}
	key, xLabel := "bleu", "corpus BLEU (closer to the references is right)"
	if _, ok := r.Rows[0].Get("bleu"); !ok {
		key, xLabel = "score", "mean score (nats)"
	}
	for i, row := range r.Rows {
		colour[row.Name] = i
		x, _ := row.Get(key)
		y, _ := row.Get("self_bleu")
		points = append(points, planePoint{row.Name, x, y})
	}
	if svg := plane(points, r.Gold, xLabel); svg != "" {
		p.Figures = append(p.Figures, figureRow{"wide", []figure{{svg, "The diversity–quality plane, one point per sampler. " + r.intervalNote()}}})
	}
	var pair []figure
	energy := func(t Trace) ([]float64, []float64) { return t.Energy, t.Error }
	if svg := traceChart(r.Traces, colour, energy, "mean energy U (nats)", false); svg != "" {
		pair = append(pair, figure{svg, "Mean energy of the chains as they run, averaged over chains and then over sentences; shaded: ± one standard error over sentences."})
	}
	accepted := func(t Trace) ([]float64, []float64) {
		out := make([]float64, len(t.Acceptance))
		for i, a := range t.Acceptance {
			out[i] = 100 * a
		}
		return out, nil
	}
	if svg := traceChart(r.Traces, colour, accepted, "accepted proposals (%)", true); svg != "" {
		pair = append(pair, figure{svg, "Share of accepted proposals over all chains at each step, for the samplers that have an acceptance step."})
	}
	if len(pair) > 0 {
		p.Figures = append(p.Figures, figureRow{"pair", pair})
	}
	return render(w, p)
}

// intervalNote explains the intervals, if there are any.
func (r *CompareResult) intervalNote() string { return intervalNote(r.Rows) }

func intervalNote(rows []Row) string {
	for _, row := range rows {
		for _, m := range row.Metrics {
			if !m.HasInterval() {
				continue
			}
			var bs, rs, ci string
			for part := range strings.SplitSeq(m.Signature, "|") {
				k, v, _ := strings.Cut(part, ":")
				switch k {
				case "bs":
					bs = v
				case "rs":
					rs = v
				case "ci":
					ci = v
				}
			}
			return fmt.Sprintf("Intervals: bootstrap over sentences, coverage %s, %s resamples, seed %s.", ci, bs, rs)
		}
	}
	return ""
}

// WriteHTML writes the evaluation as one self-contained file: one column per file,
// charts and signatures.
func (r *EvalResult) WriteHTML(w io.Writer) error {
	t := htmlTable{Title: "Metrics", First: "metric"}
	equal := true // numbers of sentences
	for _, f := range r.Files {
		equal = equal && f.N == r.Files[0].N
	}
	if equal && len(r.Files) > 1 {
		t.Caption = "Underlined: best of its row, where no intervals overlap. "
	}
	t.Caption = strings.TrimSpace(t.Caption + intervalNote(r.Rows))
	for i, row := range r.Rows {
		t.Heads = append(t.Heads, htmlHead{Key: &swatch{i % seriesClasses}, Label: row.Name})
	}
	for c, m := range r.Rows[0].Metrics {
		name := m.Label
		if m.Group != "" {
			name = m.Group + ", " + name
		}
		line := htmlRow{Name: name, Unit: m.Unit}
		marks := map[int]bool{}
		if equal {
			marks = best(r.Rows, c)
		}
		for i, row := range r.Rows {
			line.Cells = append(line.Cells, cellOf(row.Metrics[c], marks[i]))
		}
		t.Rows = append(t.Rows, line)
	}
	p := &page{
		Title: "Evaluation of generated sentences", Tables: []htmlTable{t}, FiguresTitle: "Charts",
		References: referenceLines(r.References), Notes: r.Notes, Warnings: r.allWarnings(),
		Signatures: signatures(r.Rows), Footer: "Made by infill",
	}
	for _, f := range r.Files {
		p.Facts = append(p.Facts, [2]string{f.Name, fmt.Sprintf("%s sentences (%s)", decimal(float64(f.N), 0), f.Format)})
	}
	var points []planePoint
	for _, row := range r.Rows {
		x, ok := row.Get("bleu.all")
		if !ok {
			for _, m := range row.Metrics {
				if strings.HasPrefix(m.Key, "bleu") {
					x = m
				}
			}
		}
		y, _ := row.Get("self_bleu")
		if x.Key == "" {
			x.Value = math.NaN()
		}
		points = append(points, planePoint{row.Name, x, y})
	}
	if svg := plane(points, nil, "corpus BLEU (closer to the references is right)"); svg != "" && len(points) > 1 {
		p.Figures = append(p.Figures, figureRow{"wide", []figure{{svg, "The diversity–quality plane, one point per file. " + intervalNote(r.Rows)}}})
	}
	if svg := profile(r.Rows, r.orders()); svg != "" {
		p.Figures = append(p.Figures, figureRow{"wide", []figure{{svg, "Share of n-grams that occur exactly once in the file, by order."}}})
	}
	return render(w, p)
}

// orders lists the orders of unique n-grams, ascending.
func (r *EvalResult) orders() []int {
	var out []int
	for _, m := range r.Rows[0].Metrics {
		var n int
		if rest, ok := strings.CutPrefix(m.Key, "unique.self."); ok {
			if _, err := fmt.Sscanf(rest, "%d", &n); err == nil {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
