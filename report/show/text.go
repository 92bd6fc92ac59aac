package show

import (
	"strings"
	"unicode/utf8"

	"infill/report/draw"
	"infill/report/measure"
)

// Grid is the table as a terminal has it, in two parts where it is split.
func (t *table) Grid() string {
	if t.split < 1 {
		return grid(t.cells(0, len(t.Heads)))
	}
	return grid(t.cells(0, t.split)) + "\n" + grid(t.cells(t.split, len(t.Heads)))
}

// cells are the table's columns from one to another as a terminal has them: a row of groups if
// there are any, one of heads, and the lines.
func (t *table) cells(from, to int) [][]string {
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

// grid has cells in columns two spaces apart, the first left, the others right aligned. Rows may
// have fewer cells than the widest.
func grid(rows [][]string) string {
	var width []int
	for _, r := range rows {
		for c, cell := range r {
			if c == len(width) {
				width = append(width, 0)
			}
			width[c] = max(width[c], utf8.RuneCountInString(cell))
		}
	}
	var out strings.Builder
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
		out.WriteString(strings.TrimRight(b.String(), " ") + "\n")
	}
	return out.String()
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
