package records

import (
	"slices"
	"strings"

	"infill/infill/batch/input"
)

// taggingOfRows is the tagging of a sentence in columns, whose last ones are tags.
func taggingOfRows(it *input.Item) *tagging {
	var tags []string
	plain := false
	for _, row := range it.Rows {
		tag := row.Cells[len(row.Cells)-1]
		tags, plain = append(tags, tag), plain || !prefixed.MatchString(tag)
	}
	t := newTagging(tags, "O", plain)
	if plain && it.WordTags {
		t.entity, t.outside = make([]int, len(tags)), "_" // of words, not of names
	}
	return t
}

// renderRows is the sentence with a filled text. A token that was replaced keeps its columns. One
// that the file did not have has _ in the columns between.
func (l *labels) renderRows(filled string, by change) string {
	rows := retokened(l.item.Words, l.item.Text, filled, by)
	tags := l.rows.of(rows)
	lines := make([]string, len(rows))
	for k, r := range rows {
		of := l.item.Rows[min(r.origin, len(l.item.Rows)-1)]
		cells := slices.Clone(of.Cells)
		if r.added {
			for j := 2; j < len(cells)-1; j += 2 {
				cells[j] = "_"
			}
		}
		cells[0], cells[len(cells)-1] = filled[r.at[0]:r.at[1]], tags[k]
		lines[k] = strings.Join(cells, "") + of.Rest
	}
	return strings.Join(lines, "\n")
}
