package records

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/text"
)

// labelled reads the labels of an item that came in a form of another tool. The spans render a
// filled text with its labels in that form. Errors are of type [*jsonl.Error] and wrap
// text.ErrSpan.
func labelled(it *input.Item) (*spans, error) {
	if it.Form == settings.FormatCoNLL {
		return readColumns(it), nil
	}
	l := &labelledJSON{it: it}
	words, labels := []any{0}, []any{1, "entities"}
	if it.Form != settings.FormatSpaCy {
		words, labels = []any{it.TextField}, nil
		for _, f := range it.Fields {
			switch known := f.Name == "label" || f.Name == "labels" || f.Name == "entities"; {
			case known && labels == nil:
				labels = []any{f.Name}
			case known || f.Name == "annotations" || pointsInto(f.Value, it.Text):
				return nil, l.bad(fmt.Sprintf("the field %q has labels too, or in another form, which "+
					"would point elsewhere after the filling; leave it out", f.Name))
			}
		}
		if labels == nil {
			return nil, l.bad("it has no field label with labels; leave the format out for lines without")
		}
	}
	out := &spans{text: it.Text}
	var ok bool
	if l.text, ok = jsonPlace(it.Source.Body, words...); !ok {
		return nil, l.bad("the text is not there")
	}
	out.render = l.render
	var list []json.RawMessage
	if l.labels, ok = jsonPlace(it.Source.Body, labels...); !ok {
		return nil, l.bad("there are no labels")
	}
	value := it.Source.Body[l.labels[0]:l.labels[1]]
	if value == "null" {
		l.labels = [2]int{}
		return out, nil
	}
	if json.Unmarshal([]byte(value), &list) != nil {
		return nil, l.bad("the labels are not a list")
	}
	for i, raw := range list {
		e, err := l.entry(raw)
		if err != nil {
			return nil, l.bad(fmt.Sprintf("label %d: %v", i+1, err))
		}
		l.entries = append(l.entries, e)
		out.List = append(out.List, e.span())
	}
	return out, nil
}

// labelledJSON is a text with labels at offsets in JSON.
type labelledJSON struct {
	it           *input.Item
	text, labels [2]int // bytes of their values in the body; none without labels
	entries      []labelEntry
}

// A labelEntry is a label of a text: a list of its start, its end and its name, or an object.
type labelEntry struct {
	start, end int // bytes of the text
	label      string
	units      string
	list       []json.RawMessage
	fields     []jsonl.Field
}

func (e *labelEntry) span() text.LabelledSpan {
	return text.LabelledSpan{Start: e.start, End: e.end, Label: e.label}
}

func (l *labelledJSON) bad(reason string) error {
	return &jsonl.Error{Line: l.it.Line, Kind: text.ErrSpan, Reason: reason}
}

// offsets are the members that have them, and labels those that name the label.
var (
	startNames = []string{"start", "start_offset"}
	endNames   = []string{"end", "end_offset"}
	labelNames = []string{"label", "labels"}
)

// entry reads a label. Offsets count characters. Those of Label Studio may count units of UTF-16,
// which the text of the label shows.
func (l *labelledJSON) entry(raw json.RawMessage) (e labelEntry, err error) {
	var start, end int
	want := (*string)(nil)
	read := func(to any, b json.RawMessage) {
		if err == nil {
			err = json.Unmarshal(b, to)
		}
	}
	name := func(b json.RawMessage) {
		var names []string
		if json.Unmarshal(b, &names) == nil {
			e.label = strings.Join(names, ",")
			return
		}
		read(&e.label, b)
	}
	start, end = -1, -1
	switch {
	case json.Unmarshal(raw, &e.list) == nil && len(e.list) >= 3:
		read(&start, e.list[0])
		read(&end, e.list[1])
		name(e.list[2])
	default:
		if e.fields, err = (jsonl.Decoder{}).Object(l.it.Line, raw); err != nil {
			return e, err
		}
		for _, f := range e.fields {
			switch {
			case slices.Contains(startNames, f.Name):
				read(&start, f.Value)
			case slices.Contains(endNames, f.Name):
				read(&end, f.Value)
			case slices.Contains(labelNames, f.Name):
				name(f.Value)
			case f.Name == "text":
				read(&want, f.Value)
			}
		}
	}
	if err != nil {
		return e, err
	}
	for _, e.units = range []string{"characters", "utf-16"} {
		var ok1, ok2 bool
		e.start, ok1 = byteOffset(l.it.Text, start, e.units)
		e.end, ok2 = byteOffset(l.it.Text, end, e.units)
		if ok1 && ok2 && start >= 0 && e.end > e.start &&
			(want == nil || *want == l.it.Text[e.start:e.end]) {
			return e, nil
		}
	}
	return e, fmt.Errorf("%d to %d is not a part of the text, or has another text", start, end)
}

// render is the body with a filled text, whose labels follow it.
func (l *labelledJSON) render(filled string, edits []edit) (string, error) {
	body, put := l.it.Source.Body, []struct {
		at [2]int
		to string
	}{{l.text, string(jsonl.Quote(filled))}}
	if l.labels != [2]int{} {
		list := "["
		for _, e := range l.entries {
			at, end := after(e.start, edits, false), after(e.end, edits, true)
			if at == end { // it was taken out
				continue
			}
			one, err := e.moved(filled, at, end)
			if err != nil {
				return "", err
			}
			if len(list) > 1 {
				list += ", "
			}
			list += one
		}
		put = append(put, struct {
			at [2]int
			to string
		}{l.labels, list + "]"})
	}
	slices.SortFunc(put, func(a, b struct {
		at [2]int
		to string
	}) int {
		return b.at[0] - a.at[0]
	})
	for _, p := range put {
		body = body[:p.at[0]] + p.to + body[p.at[1]:]
	}
	return body, nil
}

// moved is the JSON of the label where it stands now.
func (e *labelEntry) moved(filled string, start, end int) (string, error) {
	s := &spans{units: e.units}
	at, to := fmt.Sprint(s.offset(filled, start)), fmt.Sprint(s.offset(filled, end))
	if e.list != nil {
		parts := []string{at, to}
		for _, raw := range e.list[2:] {
			parts = append(parts, string(raw))
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	}
	var parts []string
	for _, f := range e.fields {
		value := f.Value
		switch {
		case slices.Contains(startNames, f.Name):
			value = json.RawMessage(at)
		case slices.Contains(endNames, f.Name):
			value = json.RawMessage(to)
		case f.Name == "text" && string(value) != "null":
			value = jsonl.Quote(filled[start:end])
		}
		parts = append(parts, string(jsonl.Quote(f.Name))+": "+string(value))
	}
	return "{" + strings.Join(parts, ", ") + "}", nil
}

// jsonPlace finds the bytes of a value in JSON, by names of members and indices of elements.
func jsonPlace(body string, path ...any) (at [2]int, ok bool) {
	d := json.NewDecoder(strings.NewReader(body))
	open, err := d.Token()
	if err != nil {
		return at, false
	}
	for n := 0; d.More(); n++ {
		var here any = n
		if open == json.Delim('{') {
			name, err := d.Token()
			if err != nil {
				return at, false
			}
			here = name
		}
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			return at, false
		}
		if here != path[0] {
			continue
		}
		end := int(d.InputOffset())
		at = [2]int{end - len(raw), end}
		if len(path) == 1 {
			return at, true
		}
		inner, ok := jsonPlace(body[at[0]:at[1]], path[1:]...)
		return [2]int{at[0] + inner[0], at[0] + inner[1]}, ok
	}
	return at, false
}

// relabel renders the fillings of a record in the form that its item came in. original are the
// words that were blanked out, nil where the text came with blanks.
func relabel(rec *jsonl.Record, it *input.Item, t *text.Template, original []string) error {
	l, err := labelled(it)
	if err != nil {
		return err
	}
	for k := range rec.Fillings {
		f := &rec.Fillings[k]
		var edits []edit
		shift := 0
		for i, b := range t.Blanks {
			from := jsonl.Span{b.Start - shift, b.End - shift}
			if original != nil {
				from[1] = from[0] + len(original[i])
				shift += b.End - b.Start - len(original[i])
			}
			edits = append(edits, edit{from, f.Spans[i]})
		}
		if f.Labelled, err = l.render(f.Text, edits); err != nil {
			return err
		}
	}
	return nil
}
