package report

import (
	"fmt"
	"strings"
)

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
	Better      string // an arrow
}

type htmlRow struct {
	Key              *swatch
	Name, Unit, Note string
	Better           string // an arrow
	Cells            []htmlCell
}

type htmlCell struct {
	Text, Interval, Title, Class string
	Warned                       bool
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
	} else if m.apart() {
		c.Class = "apart"
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
		t.Heads = append(t.Heads, htmlHead{Label: m.Label, Unit: m.Unit, Better: m.arrow()})
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

// intervalNote explains the intervals, if there are any.
func (r *CompareResult) intervalNote() string { return intervalNote(r.Rows) }

func intervalNote(rows []Row) string {
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
