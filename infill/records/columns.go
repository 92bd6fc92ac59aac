package records

import (
	"slices"
	"strings"

	"infill/infill/batch/input"
)

// columns are the rows of a sentence. cells are the columns of each, the first one the token and
// the last its tag, with what stands between them; rest is the rest of the line.
type columns struct {
	cells   [][]string
	rest    []string
	text    string
	at      [][2]int // bytes of the tokens
	tagging *tagging
}

// readColumns reads the tokens and entities of an item in columns.
func readColumns(it *input.Item) *columns {
	c := &columns{text: it.Text, at: it.Words}
	var tags []string
	for _, line := range strings.Split(it.Source.Body, "\n") {
		cells := input.CellsOf(line)
		c.cells = append(c.cells, cells)
		c.rest = append(c.rest, line[len(strings.Join(cells, "")):])
		tags = append(tags, cells[len(cells)-1])
	}
	plain := slices.ContainsFunc(tags, func(t string) bool { return !prefixed.MatchString(t) })
	if c.tagging = newTagging(tags, "O", plain); plain && it.WordTags {
		c.tagging.entity, c.tagging.outside = make([]int, len(tags)), "_" // of words, not of names
	}
	return c
}

// render is the sentence with a filled text. A token that was replaced keeps its columns. One that
// the file did not have has _ in the columns between.
func (c *columns) render(filled string, by change) string {
	rows := retokened(c.at, c.text, filled, by)
	tags := c.tagging.of(rows)
	lines := make([]string, len(rows))
	for k, r := range rows {
		i := min(r.origin, len(c.cells)-1)
		cells := slices.Clone(c.cells[i])
		if r.added {
			for j := 2; j < len(cells)-1; j += 2 {
				cells[j] = "_"
			}
		}
		cells[0], cells[len(cells)-1] = filled[r.at[0]:r.at[1]], tags[k]
		lines[k] = strings.Join(cells, "") + c.rest[i]
	}
	return strings.Join(lines, "\n")
}
