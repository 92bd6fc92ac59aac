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
)

// spans are the labelled parts of a text: a list of objects such as
//
//	{"start": 4, "end": 9, "label": "name", "text": "Alice"}
//
// start and end are offsets in the text, the end excluded. text is what the span should have, and
// may be missing. Further members are kept. A cell of a table has the list as a text.
type spans struct {
	List []text.LabelledSpan // in bytes of the text

	text   string
	units  string
	fields [][]jsonl.Field // of each span
	quoted bool
	// render is what a filled text is in the form that the labels came in; nil for spans in JSON.
	render func(filled string, edits []edit) (string, error)
}

// readSpans reads the spans of a text. Errors are of type [*jsonl.Error] and wrap text.ErrSpan: the
// list is not one, a span is not one of the text, its text is another one, or the offsets may be
// read in several ways.
func readSpans(n int, value json.RawMessage, line string, units string) (*spans, error) {
	out := &spans{text: line, units: cmp.Or(units, "unsaid")}
	bad := func(i int, reason string) error {
		field := jsonl.SpansField
		if i >= 0 {
			field = fmt.Sprintf("%s[%d]", field, i)
		}
		return &jsonl.Error{Line: n, Field: field, Kind: text.ErrSpan,
			Reason: fmt.Sprintf("field %q: %s", field, reason)}
	}
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
		fields, err := jsonl.Decoder{}.Object(n, raw)
		if err != nil {
			return nil, bad(i, err.Error())
		}
		out.fields = append(out.fields, fields)
		span, reason := out.read(fields)
		if reason != "" {
			return nil, bad(i, reason)
		}
		out.List = append(out.List, span)
	}
	return out, nil
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

// pointsInto reports whether a value has labels at offsets of a text, in a form that is not read: a
// list of [start, end, label], or of objects with these by the names that tools give them.
func pointsInto(value json.RawMessage, of string) bool {
	var s string
	if json.Unmarshal(value, &s) == nil {
		value = json.RawMessage(s)
	}
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil || len(list) == 0 {
		return false
	}
	for _, raw := range list {
		var triple []json.RawMessage
		var o map[string]json.RawMessage
		switch {
		case json.Unmarshal(raw, &triple) == nil && len(triple) == 3:
			o = map[string]json.RawMessage{"start": triple[0], "end": triple[1], "label": triple[2]}
		case json.Unmarshal(raw, &o) != nil:
			return false
		}
		member := func(v any, names ...string) bool {
			for _, n := range names {
				if o[n] != nil && json.Unmarshal(o[n], v) == nil {
					return true
				}
			}
			return false
		}
		var start, end int
		var label string
		var labels []string
		if !member(&start, "start", "start_offset") || !member(&end, "end", "end_offset") ||
			!member(&label, "label", "type") && !member(&labels, "labels") ||
			start < 0 || end <= start || end > len(of) {
			return false
		}
	}
	return true
}

// read makes a span of its members. reason, if not empty, says why it is none.
func (s *spans) read(fields []jsonl.Field) (span text.LabelledSpan, reason string) {
	start, end, label := -1, -1, false
	var want *string
	for _, f := range fields {
		var err error
		switch f.Name {
		case "start":
			err = json.Unmarshal(f.Value, &start)
		case "end":
			err = json.Unmarshal(f.Value, &end)
		case "label":
			label = true
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

// moved is the JSON of the spans in a text that became of theirs by some edits, in order. A span
// that begins or ends within an edit covers all of it.
func (s *spans) moved(text string, edits []edit) (json.RawMessage, error) {
	out := []byte("[")
	for i, span := range s.List {
		start, end := after(span.Start, edits, false), after(span.End, edits, true)
		if start == end { // it was taken out
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, '{')
		for k, f := range s.fields[i] {
			if k > 0 {
				out = append(out, ',')
			}
			switch f.Name {
			case "start":
				f.Value = json.RawMessage(strconv.Itoa(s.offset(text, start)))
			case "end":
				f.Value = json.RawMessage(strconv.Itoa(s.offset(text, end)))
			case "text":
				if string(f.Value) != "null" {
					f.Value = jsonl.Quote(text[start:end])
				}
			}
			var err error
			if out, err = f.Append(out); err != nil {
				return nil, err
			}
		}
		out = append(out, '}')
	}
	out = append(out, ']')
	if s.quoted {
		return jsonl.Quote(string(out)), nil
	}
	return out, nil
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
