package show

import (
	"fmt"
	"slices"
	"strings"

	"infill/report/draw"
	"infill/report/measure"
)

// A table is laid out once, for all forms. Terminals have its note, Markdown documents its heading,
// and pages its title and caption.
type table struct {
	Note, Heading  string
	Title, Caption string
	split          int    // columns that a terminal has room for in one line, 0 for all
	Corner         string // what the first column has
	Heads          []label
	Lines          []line
}

// A label names a column or a line: a metric, or the name of a row.
type label struct {
	Group, Name, Unit string
	Better            string // an arrow
	Key               string // the class of its colour, "" for none
	Note              string
}

// line is a line of a table. It has as many cells as the table has columns.
type line struct {
	label
	Cells []tableCell
}

// A tableCell is a metric; best marks the best of its kind.
type tableCell struct {
	measure.Metric
	best bool
}

// apart says whether a difference of what can be compared has an interval without 0.
func apart(m measure.Metric) bool {
	return m.Less && len(m.Warnings) == 0 && m.HasInterval() && (m.Low > 0 || m.High < 0)
}

func heading(group, label, unit string) string {
	if group != "" {
		label = group + ", " + label
	}
	if unit != "" {
		label += " (" + unit + ")"
	}
	return label
}

// arrow points to where a metric is better: up for more, down for less, "" where neither is meant.
func arrow(m measure.Metric) string {
	switch {
	case m.Better > 0:
		return "↑"
	case m.Better < 0:
		return "↓"
	}
	return ""
}

// heading is the label with its group and unit.
func (l label) heading() string { return heading(l.Group, l.Name, l.Unit) }

// Directed is the heading with the arrow.
func (l label) Directed() string {
	if l.Better == "" {
		return l.heading()
	}
	return l.heading() + " " + l.Better
}

// across lays the metrics that keep holds for out, nil for all, with a line for each row. The row
// that is the surest best of a column by the differences is marked, none without any.
func across(corner string, rows []measure.Row, keep func(measure.Metric) bool,
	differences []measure.Row) *table {
	t := &table{Corner: corner}
	for i, r := range rows {
		t.Lines = append(t.Lines, line{label: label{Name: r.Name, Key: draw.Colour(i)}})
	}
	for c, m := range metricsOf(rows) {
		if keep != nil && !keep(m) {
			continue
		}
		t.Heads = append(t.Heads, label{Group: m.Group, Name: m.Label, Unit: m.Unit, Better: arrow(m)})
		top := surest(rows, differences, c)
		for i, r := range rows {
			t.Lines[i].Cells = append(t.Lines[i].Cells, tableCell{r.Metrics[c], i == top})
		}
	}
	return t
}

// turned is the table with a line for each of its columns.
func (t *table) turned(corner string) *table {
	out := *t
	out.Corner, out.Heads, out.Lines = corner, nil, make([]line, len(t.Heads))
	for c, head := range t.Heads {
		out.Lines[c].label = head
	}
	for _, l := range t.Lines {
		out.Heads = append(out.Heads, l.label)
		for c, x := range l.Cells {
			out.Lines[c].Cells = append(out.Lines[c].Cells, x)
		}
	}
	return &out
}

// differences lays out what rows have over the first of all rows, with what is said of it. units
// are what the intervals are over, and level is their coverage.
func differences(corner, units string, rows, all []measure.Row, level float64) *table {
	t := across(corner, rows, nil, nil)
	for i := range t.Lines { // in the colours of the other tables
		at := slices.IndexFunc(all, func(r measure.Row) bool { return r.Name == rows[i].Name })
		t.Lines[i].Key = draw.Colour(at)
	}
	least, most := rows[0].Metrics[0].Units, 0
	for _, r := range rows {
		least, most = min(least, r.Metrics[0].Units), max(most, r.Metrics[0].Units)
	}
	on := fmt.Sprintf("the same %d %s", least, units)
	if least < most {
		on = fmt.Sprintf("the %d to %d %s that both have", least, most, units)
	}
	said := fmt.Sprintf("ifference from %s on %s, ± half of an interval of level %g", all[0].Name, on,
		level)
	t.Note, t.Heading = "d"+said, "Differences from "+all[0].Name
	t.Title, t.Caption = t.Heading, "D"+said+". Bold: the interval is without 0, and nothing speaks "+
		"against comparing the numbers. Each is judged by itself."
	return t
}

// metricsOf are the metrics that all rows have, none without a row.
func metricsOf(rows []measure.Row) []measure.Metric {
	if len(rows) == 0 {
		return nil
	}
	return rows[0].Metrics
}

// intervalNote explains the intervals, if there are any.
func intervalNote(rows []measure.Row) string {
	for _, row := range rows {
		for _, m := range row.Metrics {
			if !m.HasInterval() {
				continue
			}
			for part := range strings.SplitSeq(m.Signature, "|") {
				if level, ok := strings.CutPrefix(part, "ci:"); ok {
					return fmt.Sprintf("Intervals: coverage %s, over the sources of the sentences: a bootstrap "+
						"where the signature has bs, a jackknife where it has jk.", level)
				}
			}
		}
	}
	return ""
}

// surest is the row with the best value of column c, if the interval of its difference from every
// other row is without 0, else −1. differences compares the rows from the second on with the first.
// Where two rows on the same units have differences with intervals apart, that of their own
// difference is without 0: the errors of two numbers together are at least the difference's.
func surest(rows, differences []measure.Row, c int) int {
	m := rows[0].Metrics[c]
	if m.Better == 0 || len(rows) < 2 || len(differences) != len(rows)-1 {
		return -1
	}
	from := []measure.Metric{{}} // of the first, from itself
	top := 0
	for i, d := range differences {
		x, ok := d.Get(m.Key)
		if !ok || !x.HasInterval() || len(x.Warnings) > 0 || i > 0 && x.Units != from[1].Units {
			return -1
		}
		from = append(from, x)
		if direction := float64(m.Better); direction*x.Value > direction*from[top].Value {
			top = i + 1
		}
	}
	for i := range from {
		less := float64(m.Better) * (rows[top].Metrics[c].Value - rows[i].Metrics[c].Value)
		if i != top && (overlap(from[i], from[top]) || !(less > 0)) {
			return -1
		}
	}
	return top
}

// overlap reports whether two metrics have intervals that share a value.
func overlap(a, b measure.Metric) bool {
	return a.HasInterval() && b.HasInterval() && a.Low <= b.High && b.Low <= a.High
}
