package records

import (
	"unicode/utf16"
	"unicode/utf8"

	"infill/infill/jsonl"
	"infill/infill/text"
)

// An edit says that the bytes from of a text became the bytes to of another one.
type edit struct{ from, to jsonl.Span }

// A change is what became of a text, step by step, with the edits of each in order: its escapes
// are taken off, and then blanks are filled.
type change [][]edit

// unescaped is the change of a text that loses its escapes.
func unescaped(p *text.Plain) change {
	var edits []edit
	gone := 0
	for _, d := range p.Dropped {
		at := d[0] - gone
		gone += d[1] - d[0]
		edits = append(edits, edit{d, jsonl.Span{at, at}})
	}
	return change{edits}
}

// then is the change with one more step.
func (c change) then(edits []edit) change { return append(c[:len(c):len(c)], edits) }

// after is where a byte of the text stands at last. end says that it ends something: a part that
// begins or ends within an edit has all of it.
func (c change) after(at int, end bool) int {
	for _, edits := range c {
		at = after(at, edits, end)
	}
	return at
}

// after is where a byte of a text stands after edits. end says that it ends something.
func after(at int, edits []edit, end bool) int {
	shift := 0
	for _, e := range edits {
		switch {
		case at < e.from[0], at == e.from[0] && (end || e.from[1] > at): // else it was put in before
			return at + shift
		case at >= e.from[1]:
			shift = e.to[1] - e.from[1]
		case end:
			return e.to[1]
		default:
			return e.to[0]
		}
	}
	return at + shift
}

// byteOffset is an offset of a text in bytes; false if it is none of the text, or within a
// character.
func byteOffset(text string, at int, units string) (int, bool) {
	if units == "bytes" {
		return min(at, len(text)), at <= len(text) && (at == len(text) || utf8.RuneStart(text[at]))
	}
	for i, r := range text {
		if at <= 0 {
			return i, at == 0
		}
		at -= width(r, units)
	}
	return len(text), at == 0
}

// width is by how much a character advances offsets.
func width(r rune, units string) int {
	switch units {
	case "characters":
		return 1
	case "utf16":
		return max(1, utf16.RuneLen(r))
	}
	return utf8.RuneLen(r)
}

// offset is a byte of a text as an offset in the units.
func offset(text string, at int, units string) int {
	n := 0
	for _, r := range text[:at] {
		n += width(r, units)
	}
	return n
}
