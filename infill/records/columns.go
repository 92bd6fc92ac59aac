package records

import (
	"slices"
	"strings"

	"infill/infill/batch/input"
	"infill/infill/text"
)

// columns are the tokens of a sentence with their tags.
type columns struct {
	rows  []labelRow
	spans [][2]int // bytes of the tokens in the text
}

// A labelRow is a token of a sentence. cells are the columns, the first one the token and the last
// its tag, with what stands between them. entity numbers the entity that it is part of, from 1; 0
// is none.
type labelRow struct {
	cells  []string
	rest   string // of the line
	entity int
}

func (r *labelRow) tag() string { return r.cells[len(r.cells)-1] }

// with is a row with another token. One that the file did not have has no tag yet, and _ in the
// columns between.
func (r labelRow) with(token string, added bool) labelRow {
	r.cells = slices.Clone(r.cells)
	if added {
		for i := 2; i < len(r.cells)-1; i += 2 {
			r.cells[i] = "_"
		}
		r.cells[len(r.cells)-1] = ""
	}
	r.cells[0] = token
	return r
}

// readColumns reads the tokens and entities of an item in columns.
func readColumns(it *input.Item) *spans {
	c := &columns{spans: it.Words}
	out := &spans{text: it.Text, render: c.render}
	lastTag := "O"
	for i, line := range strings.Split(it.Source.Body, "\n") {
		r := labelRow{cells: input.CellsOf(line)}
		r.rest = line[len(strings.Join(r.cells, "")):]
		kind, name, _ := strings.Cut(r.tag(), "-")
		lastKind, before, _ := strings.Cut(lastTag, "-")
		if name != "" {
			goesOn := before == name && strings.Contains("IEL", kind) &&
				!strings.Contains("ELSU", lastKind)
			if !goesOn {
				out.List = append(out.List, text.LabelledSpan{Start: it.Words[i][0], Label: name})
			}
			r.entity = len(out.List)
			out.List[r.entity-1].End = it.Words[i][1]
		}
		c.rows = append(c.rows, r)
		lastTag = r.tag()
	}
	return out
}

// render is the sentence with a filled text. A token that was replaced keeps its columns. One that
// was put in is part of the entity around it, if there is one.
func (c *columns) render(filled string, by change) (string, error) {
	var out []labelRow
	changed := map[int]bool{} // entities that have other tokens than before
	at := 0                   // how much of the filled text has its rows
	for i := 0; i <= len(c.rows); i++ {
		start, end := len(filled), len(filled)
		if i < len(c.rows) {
			start = max(at, by.after(c.spans[i][0], false))
			end = max(start, by.after(c.spans[i][1], true))
		}
		for _, w := range strings.Fields(filled[at:start]) {
			r := c.rows[min(i, len(c.rows)-1)].with(w, true)
			if i == 0 || i == len(c.rows) || c.rows[i-1].entity != r.entity {
				r.entity = 0
			}
			out, changed[r.entity] = append(out, r), true
		}
		if at = end; i == len(c.rows) {
			break
		}
		r := c.rows[i]
		words := []string{filled[start:end]}
		if words[0] != r.cells[0] { // which may have spaces between tabs
			words = strings.Fields(words[0])
		}
		changed[r.entity] = changed[r.entity] || len(words) != 1
		for k, w := range words {
			out = append(out, r.with(w, k > 0))
		}
	}
	retag(out, changed, c.scheme())
	lines := make([]string, len(out))
	for i, r := range out {
		lines[i] = strings.Join(r.cells, "") + r.rest
	}
	return strings.Join(lines, "\n"), nil
}

// scheme is how the sentence writes the last and the only token of an entity: "ES", "LU", or "" for
// neither.
func (c *columns) scheme() string {
	for _, r := range c.rows {
		switch r.tag()[:1] {
		case "E", "S":
			return "ES"
		case "L", "U":
			return "LU"
		}
	}
	return ""
}

// retag writes the tags of entities that have other tokens than before. One of the tokens still has
// the name.
func retag(rows []labelRow, changed map[int]bool, scheme string) {
	names := map[int]string{}
	for _, r := range rows {
		if _, name, named := strings.Cut(r.tag(), "-"); named {
			names[r.entity] = name
		}
	}
	for i, r := range rows {
		if !changed[r.entity] {
			continue
		}
		tag := &r.cells[len(r.cells)-1]
		if r.entity == 0 {
			*tag = "O"
			continue
		}
		first := i == 0 || rows[i-1].entity != r.entity
		last := i == len(rows)-1 || rows[i+1].entity != r.entity
		kind := "I"
		switch {
		case first && last && scheme != "":
			kind = scheme[1:]
		case first:
			kind = "B"
		case last && scheme != "":
			kind = scheme[:1]
		}
		*tag = kind + "-" + names[r.entity]
	}
}
