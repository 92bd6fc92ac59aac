package records

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"infill/infill/jsonl"
	"infill/infill/text"
	"infill/tokenize"
)

// spans are the labelled parts of a text: a list of objects such as
//
//	{"start": 4, "end": 9, "label": "name", "text": "Alice"}
//
// start and end are offsets in the text, the end excluded. text is what the span should have, and
// may be missing. Further members are kept. A cell of a table has the list as a text. In a field of
// another name than [jsonl.SpansField] they may have the forms of other tools.
type spans struct {
	List []text.LabelledSpan // in bytes of the text

	text    string
	units   string
	foreign bool        // in the form of another tool
	entries []spanEntry // of List
	quoted  bool
	// render is what a filled text is in the labelled file that the spans are of; nil for others.
	render func(filled string, by change) (string, error)
}

// A spanEntry is a span as it is written: an object, or a list of its start, its end, its label and
// what else there is.
type spanEntry struct {
	list   bool
	fields []jsonl.Field
}

// readSpans reads the spans of a text from a field. Errors are of type [*jsonl.Error] and wrap
// text.ErrSpan: the list is not one, a span is not one of the text, its text is another one, or the
// offsets may be read in several ways.
func readSpans(n int, field jsonl.Field, line string, units string) (*spans, error) {
	out := &spans{text: line, units: cmp.Or(units, "unsaid"), foreign: field.Name != jsonl.SpansField}
	bad := func(i int, reason string) error {
		name := field.Name
		if i >= 0 {
			name = fmt.Sprintf("%s[%d]", name, i)
		}
		return &jsonl.Error{Line: n, Field: name, Kind: text.ErrSpan,
			Reason: fmt.Sprintf("field %q: %s", name, reason)}
	}
	value := field.Value
	if len(value) > 0 && value[0] == '"' {
		var s string
		if err := json.Unmarshal(value, &s); err != nil {
			return nil, bad(-1, err.Error())
		}
		if value, out.quoted = json.RawMessage(s), true; s == "" {
			return out, nil
		}
	}
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		return nil, bad(-1, `want a list such as [{"start":4,"end":9,"label":"name"}]`)
	}
	for i, raw := range list {
		entry, err := out.entry(n, raw)
		if err != nil {
			return nil, bad(i, err.Error())
		}
		out.entries = append(out.entries, entry)
		span, reason := out.read(entry.fields)
		if reason != "" {
			return nil, bad(i, reason)
		}
		out.List = append(out.List, span)
	}
	return out, nil
}

// entry takes a span apart. The parts of a list have the names that they mean.
func (s *spans) entry(n int, raw json.RawMessage) (e spanEntry, err error) {
	var list []json.RawMessage
	if e.list = s.foreign && json.Unmarshal(raw, &list) == nil; !e.list {
		e.fields, err = jsonl.Decoder{}.Object(n, raw)
		return e, err
	}
	names := []string{"start", "end", "label"}
	for i, v := range list {
		f := jsonl.Field{Value: v}
		if i < len(names) {
			f.Name = names[i]
		}
		e.fields = append(e.fields, f)
	}
	return e, nil
}

// looksLikeSpans reports whether a value is a list of objects that have a start, an end and a
// label. Other lists that are called spans are data.
func looksLikeSpans(value json.RawMessage) bool {
	var s string
	if json.Unmarshal(value, &s) == nil {
		value = json.RawMessage(s)
	}
	var list []struct{ Start, End, Label json.RawMessage }
	if json.Unmarshal(value, &list) != nil || len(list) == 0 {
		return false
	}
	for _, s := range list {
		if s.Start == nil || s.End == nil || s.Label == nil {
			return false
		}
	}
	return true
}

// foreignNames are what other tools call the members of a span.
var foreignNames = map[string]string{"start_offset": "start", "end_offset": "end",
	"labels": "label", "type": "label"}

// meaning is the name of a member of a span, as spans have it.
func (s *spans) meaning(name string) string {
	if s.foreign && foreignNames[name] != "" {
		return foreignNames[name]
	}
	return name
}

// read makes a span of its members. reason, if not empty, says why it is none.
func (s *spans) read(fields []jsonl.Field) (span text.LabelledSpan, reason string) {
	start, end, label := -1, -1, false
	var want *string
	for _, f := range fields {
		var err error
		switch s.meaning(f.Name) {
		case "start":
			err = json.Unmarshal(f.Value, &start)
		case "end":
			err = json.Unmarshal(f.Value, &end)
		case "label":
			label = true
			var several []string
			if s.foreign && json.Unmarshal(f.Value, &several) == nil {
				span.Label = strings.Join(several, ",")
				continue
			}
			err = json.Unmarshal(f.Value, &span.Label)
		case "text":
			err = json.Unmarshal(f.Value, &want)
		}
		if err != nil {
			return span, fmt.Sprintf("%q is %s; want whole numbers from 0 for start and end, and texts "+
				"for label and text", f.Name, f.Value)
		}
	}
	switch {
	case start < 0 || end < 0 || !label:
		return span, "want start, end and label"
	case end <= start:
		return span, fmt.Sprintf("it ends at %d and starts at %d", end, start)
	}
	var ok1, ok2 bool
	span.Start, ok1 = byteOffset(s.text, start, s.units)
	span.End, ok2 = byteOffset(s.text, end, s.units)
	if s.units == "unsaid" && (!ok1 || !ok2 || !isASCII(s.text[:span.End])) {
		if end > len(s.text) {
			return span, fmt.Sprintf("it ends at %d, the text has %d bytes", end, len(s.text))
		}
		return span, "the text before its end has characters of several bytes; say whether offsets " +
			"count characters, bytes or utf-16: \"span_offsets\""
	}
	if !ok1 || !ok2 {
		return span, fmt.Sprintf("%d to %d are not offsets of characters of the text, counted in %v",
			start, end, s.units)
	}
	if got := s.text[span.Start:span.End]; want != nil && *want != got {
		return span, fmt.Sprintf("its text is %q, and %q stands at its place", *want, got)
	}
	return span, ""
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// byteOffset is an offset of a text in bytes; false if it is none of the text, or within a
// character.
func byteOffset(text string, at int, units string) (int, bool) {
	if units == "bytes" || units == "unsaid" {
		ok := at <= len(text) && (at == len(text) || utf8.RuneStart(text[at]))
		return min(at, len(text)), ok
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
	case "utf-16":
		return max(1, utf16.RuneLen(r))
	}
	return utf8.RuneLen(r)
}

// offset is a byte of a text as an offset in the units of the spans.
func (s *spans) offset(text string, at int) int {
	n := 0
	for _, r := range text[:at] {
		n += width(r, s.units)
	}
	return n
}

// An edit says that the bytes from of a text became the bytes to of another one.
type edit struct{ from, to jsonl.Span }

// A change is what became of a text, step by step, with the edits of each in order: its escapes
// are taken off, and then blanks are filled.
type change [][]edit

// unescaped is the change of a text that loses its escapes.
func unescaped(tok *tokenize.Tokenizer, given string) (change, error) {
	_, dropped, err := text.Unescape(tok, given)
	var edits []edit
	gone := 0
	for _, d := range dropped {
		at := d[0] - gone
		gone += d[1] - d[0]
		edits = append(edits, edit{d, jsonl.Span{at, at}})
	}
	return change{edits}, err
}

// then is the change with one more step.
func (c change) then(edits []edit) change { return append(c[:len(c):len(c)], edits) }

// after is where a byte of the text stands at last. end says that it ends something.
func (c change) after(at int, end bool) int {
	for _, edits := range c {
		at = after(at, edits, end)
	}
	return at
}

// in are the labelled parts of the text that a change makes.
func (s *spans) in(by change) (out []text.LabelledSpan) {
	for _, l := range s.List {
		l.Start, l.End = by.after(l.Start, false), by.after(l.End, true)
		if l.Start < l.End {
			out = append(out, l)
		}
	}
	return out
}

// moved is the JSON of the spans in a text that became of theirs by a change. A span that
// begins or ends within an edit covers all of it.
func (s *spans) moved(text string, by change) (json.RawMessage, error) {
	out := []byte("[")
	for i, span := range s.List {
		start, end := by.after(span.Start, false), by.after(span.End, true)
		if start == end { // it was taken out
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		e := s.entries[i]
		out = append(out, e.ends()[0])
		for k, f := range e.fields {
			if k > 0 {
				out = append(out, ',')
			}
			switch s.meaning(f.Name) {
			case "start":
				f.Value = json.RawMessage(strconv.Itoa(s.offset(text, start)))
			case "end":
				f.Value = json.RawMessage(strconv.Itoa(s.offset(text, end)))
			case "text":
				if string(f.Value) != "null" {
					f.Value = jsonl.Quote(text[start:end])
				}
			}
			if e.list {
				out = append(out, f.Value...)
				continue
			}
			var err error
			if out, err = f.Append(out); err != nil {
				return nil, err
			}
		}
		out = append(out, e.ends()[1])
	}
	out = append(out, ']')
	if s.quoted {
		return jsonl.Quote(string(out)), nil
	}
	return out, nil
}

// ends are the brackets around the entry.
func (e *spanEntry) ends() string {
	if e.list {
		return "[]"
	}
	return "{}"
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
