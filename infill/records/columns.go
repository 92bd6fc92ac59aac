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

// A labelRow is a token of a sentence, what stands between it and its tag, the tag and the rest of
// the line. entity numbers the entity that it is part of, from 1; 0 is none.
type labelRow struct {
	token, middle, tag, rest string
	entity                   int
}

// readColumns reads the tokens and entities of an item in columns.
func readColumns(it *input.Item) *spans {
	c := &columns{spans: it.Words}
	out := &spans{text: it.Text, render: c.render}
	last := labelRow{}
	entities := 0
	for i, line := range strings.Split(it.Source.Body, "\n") {
		cells := input.CellsOf(line)
		all := strings.Join(cells, "")
		r := labelRow{token: cells[0], tag: cells[len(cells)-1], rest: line[len(all):]}
		r.middle = all[len(r.token) : len(all)-len(r.tag)]
		kind, name, _ := strings.Cut(r.tag, "-")
		_, before, _ := strings.Cut(last.tag, "-")
		if name != "" {
			goes := last.entity > 0 && before == name && strings.Contains("IEL", kind) &&
				!strings.ContainsAny(last.tag[:1], "ELSU")
			if !goes {
				entities++
				out.List = append(out.List, text.LabelledSpan{Start: it.Words[i][0], Label: name})
			}
			r.entity = entities
			out.List[entities-1].End = it.Words[i][1]
		}
		c.rows = append(c.rows, r)
		last = r
	}
	return out
}

// render is the sentence with a filled text. A token that was replaced keeps its columns. One that
// was put in is part of the entity around it, if there is one, and has _ in the other columns.
func (c *columns) render(filled string, edits []edit) (string, error) {
	var out []labelRow
	counts := map[int]int{} // tokens of entities that were and are not, and the other way round
	add := func(words []string, like labelRow) {
		for i, w := range words {
			r := like
			if r.token = w; i > 0 {
				r.middle, r.tag = others(like.middle), ""
				counts[r.entity]++
			}
			out = append(out, r)
		}
		if len(words) == 0 {
			counts[like.entity]++
		}
	}
	var put []edit // words that were put in between
	for _, e := range edits {
		if e.from[0] == e.from[1] {
			put = append(put, e)
		}
	}
	for i := 0; i <= len(c.rows); i++ {
		for len(put) > 0 && (i == len(c.rows) || put[0].from[0] <= c.spans[i][0]) {
			r := c.rows[min(i, len(c.rows)-1)]
			r.middle, r.tag = others(r.middle), ""
			if i == 0 || i == len(c.rows) || c.rows[i-1].entity != r.entity {
				r.entity = 0
			}
			for _, r.token = range strings.Fields(filled[put[0].to[0]:put[0].to[1]]) {
				out = append(out, r)
				counts[r.entity]++
			}
			put = put[1:]
		}
		if i == len(c.rows) {
			break
		}
		span := c.spans[i]
		covered := slices.ContainsFunc(edits, func(e edit) bool { // by words in place of those before
			return e.from[0] < span[0] && e.from[1] > span[0]
		})
		now := filled[after(span[0], edits, false):after(span[1], edits, true)]
		switch {
		case covered:
			add(nil, c.rows[i])
		case now == c.rows[i].token:
			add([]string{now}, c.rows[i])
		default:
			add(strings.Fields(now), c.rows[i])
		}
	}
	retag(out, counts, c.scheme())
	var b strings.Builder
	for i, r := range out {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(r.token + r.middle + r.tag + r.rest)
	}
	return b.String(), nil
}

// others are the columns between a token and its tag, for a token that the file did not have.
func others(middle string) string {
	cells := input.CellsOf(strings.TrimLeft(middle, " \t"))
	blank := middle[:len(middle)-len(strings.TrimLeft(middle, " \t"))]
	for i, cell := range cells {
		if i%2 == 0 && cell != "" {
			cell = "_"
		}
		blank += cell
	}
	if rest := len(strings.Join(cells, "")); rest > 0 {
		blank += strings.TrimLeft(middle, " \t")[rest:]
	}
	return blank
}

// scheme is how the sentence writes the last and the only token of an entity: "ES", "LU", or "" for
// neither.
func (c *columns) scheme() string {
	for _, r := range c.rows {
		switch r.tag[:1] {
		case "E", "S":
			return "ES"
		case "L", "U":
			return "LU"
		}
	}
	return ""
}

// retag writes the tags of entities that have another number of tokens than before.
func retag(rows []labelRow, counts map[int]int, scheme string) {
	for i := range rows {
		r := &rows[i]
		if counts[r.entity] == 0 {
			continue
		}
		if r.entity == 0 {
			r.tag = "O"
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
		r.tag = kind + "-" + nameOf(rows, r.entity)
	}
}

// nameOf is the name of an entity, which one of its tokens still has.
func nameOf(rows []labelRow, entity int) string {
	for _, r := range rows {
		if _, name, ok := strings.Cut(r.tag, "-"); ok && r.entity == entity {
			return name
		}
	}
	return ""
}
