package records

import (
	"regexp"
	"slices"
	"strings"

	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/text"
)

// A tagging is the tags of tokens, and the entities that they say.
type tagging struct {
	tags    []string
	entity  []int    // of each token, from 1; 0 is none
	names   []string // of entities
	outside string   // the tag of tokens in no entity: "O", or "0" of numbers
	plain   bool     // tags are names, without B- and I-
}

// prefixed is a tag in the schemes BIO, IOBES and BILOU.
var prefixed = regexp.MustCompile(`^(?:O|[BIESLU]-[\pL_].*)$`)

// taggingOf is the tagging of a list beside tokens, nil for a list that has none.
func taggingOf(name string, n *jsonl.Node) *tagging {
	var tags []string
	numbers := 0
	for _, k := range n.Kids {
		tags = append(tags, k.Text)
		if _, whole := k.Whole(); whole && k.Kind == '0' {
			numbers++
		} else if k.Kind != '"' {
			return nil
		}
	}
	switch named := tagNames.MatchString(name) && !wordTags.MatchString(name); {
	case numbers == len(tags) && named:
		return newTagging(tags, "0", true)
	case numbers > 0:
		return nil
	case !slices.ContainsFunc(tags, func(t string) bool { return !prefixed.MatchString(t) }):
		return newTagging(tags, "O", false)
	case named && slices.Contains(tags, "O"):
		return newTagging(tags, "O", true)
	}
	return nil
}

// newTagging reads tags. Those that are plain names are one entity where they follow each other.
func newTagging(tags []string, outside string, plain bool) *tagging {
	t := &tagging{tags: tags, outside: outside, plain: plain}
	last := outside
	for _, tag := range tags {
		kind, name, _ := strings.Cut(tag, "-")
		lastKind, before, _ := strings.Cut(last, "-")
		goesOn := before == name && strings.Contains("IEL", kind) && !strings.Contains("ELSU", lastKind)
		if plain {
			name, goesOn = tag, last == tag || outside == "0" && last != outside
		}
		switch {
		case tag == outside || name == "":
			t.entity = append(t.entity, 0)
		default:
			if !goesOn {
				t.names = append(t.names, name)
			}
			t.entity = append(t.entity, len(t.names))
		}
		last = tag
	}
	return t
}

// spans are the entities in a text whose tokens have these places.
func (t *tagging) spans(at [][2]int) (out []text.LabelledSpan) {
	for i, e := range t.entity {
		switch {
		case e == 0:
		case e > len(out):
			out = append(out, text.LabelledSpan{Start: at[i][0], End: at[i][1], Label: t.names[e-1]})
		default:
			out[e-1].End = at[i][1]
		}
	}
	return out
}

// of are the tags of other tokens. One that was replaced keeps its own. One that was put in is part
// of the entity around it, if there is one. Entities that have other tokens than before are tagged
// by their scheme, which for numbers is not known: then the tag is "".
func (t *tagging) of(rows []row) []string {
	n := len(t.tags)
	changed := map[int]bool{}
	left := make([]bool, n)
	entity := make([]int, len(rows))
	out := make([]string, len(rows))
	for k, r := range rows {
		i := min(r.origin, n-1)
		entity[k] = t.entity[i]
		if r.between && (r.origin == 0 || r.origin == n || t.entity[i-1] != entity[k]) {
			entity[k] = 0
		}
		if out[k] = t.tags[i]; r.added {
			changed[entity[k]] = true
		} else {
			left[i] = true
		}
	}
	for i := range left {
		changed[t.entity[i]] = changed[t.entity[i]] || !left[i]
	}
	for k, e := range entity {
		switch first := k == 0 || entity[k-1] != e; {
		case e == 0 && rows[k].added:
			out[k] = t.outside
		case e == 0 || !changed[e]:
		case t.outside == "0":
			out[k] = ""
		case t.plain:
			out[k] = t.names[e-1]
		default:
			last := k == len(rows)-1 || entity[k+1] != e
			out[k] = t.kind(first, last) + "-" + t.names[e-1]
		}
	}
	return out
}

// kind is the letter before the name of an entity, for a token that begins or ends it.
func (t *tagging) kind(first, last bool) string {
	one, end := "B", "I" // where the sentence has neither E and S nor L and U
	for _, tag := range t.tags {
		switch tag[:min(1, len(tag))] {
		case "E", "S":
			one, end = "S", "E"
		case "L", "U":
			one, end = "U", "L"
		}
	}
	switch {
	case first && last:
		return one
	case first:
		return "B"
	case last:
		return end
	}
	return "I"
}

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
