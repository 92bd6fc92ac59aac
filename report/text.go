package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"infill/internal/count"
	"infill/report/draw"
)

// printer writes until the first error and keeps it.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// plain makes text safe for a terminal: file names and sentences may hold escape
// sequences, and a table must not be redrawn by its own contents.
func plain(s string) string { return draw.Plain(s) }

// grid writes cells in columns two spaces apart, the first left, the others right
// aligned. Rows may have fewer cells than the widest.
func (p *printer) grid(rows [][]string) {
	var width []int
	for _, r := range rows {
		for c, cell := range r {
			if c == len(width) {
				width = append(width, 0)
			}
			width[c] = max(width[c], utf8.RuneCountInString(cell))
		}
	}
	for _, r := range rows {
		var b strings.Builder
		for c, cell := range r {
			pad := strings.Repeat(" ", width[c]-utf8.RuneCountInString(cell))
			if c == 0 {
				b.WriteString(cell + pad)
			} else {
				b.WriteString("  " + pad + cell)
			}
		}
		p.f("%s\n", strings.TrimRight(b.String(), " "))
	}
}

// cell is a value with half the width of its interval.
func cell(m Metric) string {
	s := m.Text()
	if m.OK() && m.HasInterval() {
		s += " " + m.half()
	}
	if len(m.Warnings) > 0 {
		s += "*"
	}
	return s
}

func (p *printer) list(title string, items []string) {
	if len(items) == 0 {
		return
	}
	p.f("\n%s\n", title)
	for _, s := range items {
		p.f("  %s\n", plain(s))
	}
}

func (p *printer) signatures(sigs []signed) {
	if len(sigs) == 0 {
		return
	}
	p.f("\nsignatures\n")
	grid := make([][]string, len(sigs))
	for i, s := range sigs {
		who := ""
		if s.Rows != "" {
			who = " [" + s.Rows + "]"
		}
		grid[i] = []string{plain("  " + s.Heading + who + "  " + s.Signature)}
	}
	p.grid(grid)
}

// files prints a table with a column for each file.
func (p *printer) files(rows []Row) {
	head := []string{"metric"}
	for _, row := range rows {
		head = append(head, plain(row.Name))
	}
	grid := [][]string{head}
	for c, m := range metricsOf(rows) {
		line := []string{plain(m.Heading())}
		for _, row := range rows {
			line = append(line, cell(row.Metrics[c]))
		}
		grid = append(grid, line)
	}
	p.grid(grid)
}

// WriteText writes the result as a table for a terminal: one row per metric, one
// column per file, then signatures, notes and warnings. An asterisk marks a number
// that has a warning.
func (r *EvalResult) WriteText(w io.Writer) error {
	p := &printer{w: w}
	p.files(r.Rows)
	if len(r.Differences) > 0 {
		p.f("\n%s\n\n", plain(r.differed().note()))
		p.files(r.Differences)
	}
	p.list("references", referenceLines(r.References))
	p.signatures(signatures(r.Rows))
	p.list("notes", r.Notes)
	p.list("warnings (*)", r.allWarnings())
	return p.err
}

func (r *EvalResult) allWarnings() []string {
	var out []string
	for _, f := range r.Files {
		for _, w := range f.Warnings {
			out = append(out, f.Name+": "+w)
		}
	}
	out = append(out, warnings(r.Rows)...)
	return append(out, differenceWarnings(r.Differences)...)
}

func referenceLines(refs []Reference) []string {
	var out []string
	for _, r := range refs {
		s := fmt.Sprintf("%s: %s sentence%s from %s", r.Name, decimal(float64(r.Sentences), 0),
			count.S(r.Sentences), r.Path)
		if r.Excluded > 0 {
			s += fmt.Sprintf(", %d infilled one%s left out", r.Excluded, count.S(r.Excluded))
		}
		if r.Blank > 0 {
			s += fmt.Sprintf(", %d blank line%s dropped", r.Blank, count.S(r.Blank))
		}
		out = append(out, s)
	}
	return out
}

// halves splits the columns into those of DLP's table and those beside it.
func halves(rows []Row) (quality, run []int) {
	if len(rows) == 0 {
		return nil, nil
	}
	for c, m := range rows[0].Metrics {
		if m.ofRun {
			run = append(run, c)
		} else {
			quality = append(quality, c)
		}
	}
	return quality, run
}

// samplers prints columns of a table with a row for each sampler.
func (p *printer) samplers(rows []Row, cols []int) { p.across("sampler", rows, cols) }

// across prints columns of a table with a row for each thing of a kind.
func (p *printer) across(kind string, rows []Row, cols []int) {
	p.f("\n")
	groups, head := []string{""}, []string{kind}
	grouped := false
	for i, c := range cols {
		m := rows[0].Metrics[c]
		group := ""
		if m.Group != "" {
			grouped = true
			if i == 0 || rows[0].Metrics[cols[i-1]].Group != m.Group {
				group = plain(m.Group)
			}
		}
		groups = append(groups, group)
		label := m.Label
		if m.Unit != "" {
			label += " (" + m.Unit + ")"
		}
		head = append(head, plain(label))
	}
	var grid [][]string
	if grouped {
		grid = append(grid, groups)
	}
	grid = append(grid, head)
	for _, row := range rows {
		line := []string{plain(row.Name)}
		for _, c := range cols {
			line = append(line, cell(row.Metrics[c]))
		}
		grid = append(grid, line)
	}
	p.grid(grid)
}

// columns are all columns of a table.
func columns(rows []Row) []int {
	out := make([]int, len(metricsOf(rows)))
	for c := range out {
		out[c] = c
	}
	return out
}

// WriteText writes the comparison as tables for a terminal: DLP's Table 3, the differences if there
// are any, and what the runs cost; then signatures, notes and warnings.
func (r *CompareResult) WriteText(w io.Writer) error {
	p := &printer{w: w}
	p.f("%s\n", plain(r.Title))
	if r.Protocol != "" {
		p.f("%s\n", plain(r.Protocol))
	}
	quality, run := halves(r.Rows)
	p.samplers(r.Rows, quality)
	if len(r.Differences) > 0 {
		p.f("\n%s\n", plain(r.differed().note()))
		quality, run := halves(r.Differences) // a terminal has no room for both in a line
		p.samplers(r.Differences, quality)
		p.samplers(r.Differences, run)
	}
	p.samplers(r.Rows, run)
	if r.Gold != nil {
		p.f("\n%s: %s\n", r.Gold.Label, cell(*r.Gold))
	}
	p.list("references", referenceLines(r.References))
	p.signatures(r.signed())
	p.list("notes", r.Notes)
	p.list("warnings (*)", r.allWarnings())
	return p.err
}

// WriteJSON writes the result as one indented JSON object.
func (r *EvalResult) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// WriteJSON writes the result as one indented JSON object.
func (r *CompareResult) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// metricsOf are the metrics that all rows have, none without a row.
func metricsOf(rows []Row) []Metric {
	if len(rows) == 0 {
		return nil
	}
	return rows[0].Metrics
}
