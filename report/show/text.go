package show

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"infill/report/draw"
	"infill/report/measure"
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

// Text writes the document for a terminal. An asterisk marks a number that has a warning.
func (d *Document) Text(w io.Writer) error {
	p := &printer{w: w}
	for _, s := range d.opening {
		p.f("%s\n", draw.Plain(s))
	}
	for i, t := range d.tables {
		if i > 0 || len(d.opening) > 0 {
			p.f("\n")
		}
		if t.note != "" {
			p.f("%s\n\n", draw.Plain(t.note))
		}
		if t.split == 0 {
			p.grid(t.grid(0, len(t.Heads)))
			continue
		}
		p.grid(t.grid(0, t.split))
		p.f("\n")
		p.grid(t.grid(t.split, len(t.Heads)))
	}
	if d.gold != nil {
		p.f("\n%s: %s\n", d.gold.Label, cell(*d.gold))
	}
	p.list("references", d.References)
	p.signatures(d.signatures)
	p.list("notes", d.Notes)
	p.list("warnings (*)", d.Warnings)
	return p.err
}

// grid is the table's columns from one to another as a terminal has them: a row of groups if there
// are any, one of heads, and the lines.
func (t *table) grid(from, to int) [][]string {
	groups, heads, grouped, last := []string{""}, []string{t.Corner}, false, ""
	for _, h := range t.Heads[from:to] {
		group := ""
		if h.Group != last {
			group = draw.Plain(h.Group)
		}
		last = h.Group
		grouped = grouped || group != ""
		groups = append(groups, group)
		heads = append(heads, draw.Plain(heading("", h.Name, h.Unit)))
	}
	var out [][]string
	if grouped {
		out = append(out, groups)
	}
	out = append(out, heads)
	for _, l := range t.Lines {
		row := []string{draw.Plain(l.heading())}
		for _, c := range l.Cells[from:to] {
			row = append(row, cell(c.Metric))
		}
		out = append(out, row)
	}
	return out
}

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

// cell is a value with half the width of its interval, or with its ends where a share with half the
// width on both sides would not be one.
func cell(m measure.Metric) string {
	s := m.Text()
	if m.OK() && m.HasInterval() {
		half := (m.High - m.Low) / 2
		if m.Unit == "%" && !m.Less && (m.Value < half || m.Value+half > 100) {
			s += " " + m.Interval()
		} else {
			s += " " + m.Half()
		}
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
		p.f("  %s\n", draw.Plain(s))
	}
}

func (p *printer) signatures(sigs []signed) {
	if len(sigs) == 0 {
		return
	}
	p.f("\nsignatures\n")
	for _, s := range sigs {
		of := ""
		if s.Rows != "" {
			of = " [" + s.Rows + "]"
		}
		p.f("%s\n", strings.TrimRight(draw.Plain("  "+s.Heading+of+"  "+s.Signature), " "))
	}
}
