package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// filesTable lays metrics out with a column for each file. With mark, the best of each row is
// marked.
func filesTable(rows []Row, mark bool) htmlTable {
	t := htmlTable{First: "metric"}
	for i, row := range rows {
		t.Heads = append(t.Heads, htmlHead{Key: &swatch{i % seriesClasses}, Label: row.Name})
	}
	for c, m := range metricsOf(rows) {
		name := m.Label
		if m.Group != "" {
			name = m.Group + ", " + name
		}
		line := htmlRow{Name: name, Unit: m.Unit, Better: m.arrow()}
		marks := map[int]bool{}
		if mark {
			marks = best(rows, c)
		}
		for i, row := range rows {
			line.Cells = append(line.Cells, cellOf(row.Metrics[c], marks[i]))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// WriteHTML writes the evaluation as one self-contained file: one column per file,
// charts and signatures.
func (r *EvalResult) WriteHTML(w io.Writer) error {
	equal := true // numbers of sentences
	for _, f := range r.Files {
		equal = equal && f.N == r.Files[0].N
	}
	t := filesTable(r.Rows, equal)
	t.Title = "Metrics"
	if equal && len(r.Files) > 1 {
		t.Caption = "Underlined: best of its row, where no intervals overlap. "
	}
	t.Caption = strings.TrimSpace(t.Caption + intervalNote(r.Rows))
	tables := []htmlTable{t}
	if len(r.Differences) > 0 {
		t = filesTable(r.Differences, false)
		d := r.differed()
		for i := range t.Heads {
			t.Heads[i].Key.Class = d.class(r.Rows, i)
		}
		t.Title, t.Caption = d.title(), d.caption()
		tables = append(tables, t)
	}
	p := &page{
		Title: "Evaluation of generated sentences", Tables: tables, FiguresTitle: "Charts",
		References: referenceLines(r.References), Notes: r.Notes, Warnings: r.allWarnings(),
		Signatures: signatures(r.Rows), Facts: r.facts(),
		Footer: strings.TrimSpace("Made by infill " + r.Version),
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
	svg := plane(points, nil, "corpus BLEU (closer to the references is right)")
	if svg != "" && len(points) > 1 {
		p.wide(svg, "The diversity–quality plane, one point per file. "+intervalNote(r.Rows))
	}
	if svg := profile(r.Rows, r.orders()); svg != "" {
		p.wide(svg, "Share of n-grams that occur exactly once in the file, by order.")
	}
	for _, f := range r.Files {
		for i := range f.Probabilities {
			p.Figures = append(p.Figures, f.Probabilities[i].figures())
		}
	}
	return render(w, p)
}

// orders lists the orders of unique n-grams, ascending.
func (r *EvalResult) orders() []int {
	var out []int
	for _, m := range metricsOf(r.Rows) {
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
