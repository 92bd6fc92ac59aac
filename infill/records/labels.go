package records

import (
	"encoding/json"
	"fmt"
	"slices"

	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/text"
)

// labelled reads the labels of an item that came in a form of another tool. The spans render a
// filled text with its labels in that form. Errors are of type [*jsonl.Error], and wrap
// text.ErrSpan but for JSON that cannot be read.
func labelled(it *input.Item) (*spans, error) {
	if it.Form == settings.FormatCoNLL {
		return readColumns(it), nil
	}
	bad := func(reason string) error {
		return &jsonl.Error{Line: it.Line, Kind: text.ErrSpan, Reason: reason}
	}
	l := &labelledJSON{text: it.TextField}
	object, names := []byte(it.Source.Body), []string{"label", "labels", "entities"}
	if it.Form == settings.FormatSpaCy {
		var pair []json.RawMessage
		if err := json.Unmarshal(object, &pair); err != nil {
			return nil, bad(err.Error())
		}
		object, names, l.pair = pair[1], []string{"entities"}, true
	}
	var err error
	if l.fields, err = (jsonl.Decoder{}).Object(it.Line, object); err != nil {
		return nil, err
	}
	for _, f := range l.fields {
		switch known := slices.Contains(names, f.Name); {
		case known && l.spans == nil:
			l.labels = f.Name
			// Label Studio may count units of UTF-16, as the texts of labels show.
			if l.spans, err = readLabels(it.Line, f, it.Text, "characters", "utf-16"); err != nil {
				return nil, err
			}
		case known || f.Name == "annotations" || pointsInto(f.Value, it.Text):
			return nil, bad(fmt.Sprintf("the field %q has labels too, or in another form, which would "+
				"point elsewhere after the filling; leave it out", f.Name))
		}
	}
	if l.spans == nil {
		return nil, bad(fmt.Sprintf("it has no field %s with labels; leave the format out for lines "+
			"without", names[0]))
	}
	l.spans.render = l.render
	return l.spans, nil
}

// readLabels reads labels in the form of another tool, whose offsets count one of the units.
func readLabels(n int, f jsonl.Field, of string, units ...string) (s *spans, err error) {
	for _, u := range units {
		if s, err = readSpans(n, f, of, u); err == nil {
			break
		}
	}
	return s, err
}

// pointsInto reports whether a value has labels at offsets of a text, in the form of another tool.
func pointsInto(value json.RawMessage, of string) bool {
	s, err := readLabels(0, jsonl.Field{Value: value}, of, "characters", "utf-16", "bytes")
	return err == nil && len(s.List) > 0
}

// labelledJSON is a text with labels at offsets: an object, or a pair of the text and one.
type labelledJSON struct {
	pair         bool
	fields       []jsonl.Field // of the object
	text, labels string        // the names of fields
	spans        *spans
}

// render is the JSON with a filled text, whose labels follow it.
func (l *labelledJSON) render(filled string, by change) (string, error) {
	moved, err := l.spans.moved(filled, by)
	out := []byte("{")
	for i, f := range l.fields {
		if i > 0 {
			out = append(out, ',')
		}
		switch {
		case f.Name == l.labels && string(f.Value) != "null":
			f.Value = moved
		case f.Name == l.text && !l.pair:
			f.Value = jsonl.Quote(filled)
		}
		if err == nil {
			out, err = f.Append(out)
		}
	}
	if l.pair {
		return fmt.Sprintf("[%s,%s}]", jsonl.Quote(filled), out), err
	}
	return string(out) + "}", err
}

// relabel renders the fillings of a record in the form that its item came in. original are the
// words that were blanked out, nil where the text came with blanks.
func relabel(rec *jsonl.Filled, it *input.Item, t *text.Template, original []string) error {
	l, err := labelled(it)
	if err != nil {
		return err
	}
	plain, err := unescaped(t.Tok, it.Text)
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
		if f.Labelled, err = l.render(f.Text, plain.then(edits)); err != nil {
			return err
		}
	}
	return nil
}
