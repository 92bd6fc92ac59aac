package input

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
	"infill/internal/textline"
)

// A Line is a line of text or of JSON lines that was not read as a record yet. It can be sent
// elsewhere, where [Options.Item] reads it.
type Line struct {
	Number  int    // of the line, or of the element of an array, from 1
	Text    []byte // without its end; nil if TooLong
	TooLong bool   // it has more than [jsonl.MaxInput] bytes
}

// Item reads a line of an input with this format, and this field of the text. The format is text,
// JSON lines, or an array of JSON.
func (o Options) Item(l Line) Item {
	it := Item{Line: l.Number}
	switch {
	case l.TooLong:
		it.Err = &jsonl.Error{Line: l.Number, Kind: jsonl.ErrLineTooLong,
			Reason: fmt.Sprintf("more than %d bytes", cmp.Or(o.Longest, jsonl.MaxInput))}
	case o.Format == settings.FormatJSON && string(l.Text) == "null":
		it.Left = "null"
	case o.Format == settings.FormatJSON && notElement(l.Text) != "":
		it.Text = string(l.Text)
		it.Err = &jsonl.Error{Line: l.Number, Kind: jsonl.ErrJSON,
			Reason: "it is " + notElement(l.Text) + "; want a text or an object with a text"}
	case o.Format == settings.FormatJSON && len(l.Text) > 0 && l.Text[0] == '"':
		it.Err = it.parseText(l.Text)
	case o.Format.JSON():
		it.Err = it.parse(o, l.Text)
	default:
		it.Text = string(l.Text)
	}
	it.leave(o.OnNull)
	if bad, ok := it.Err.(*jsonl.Error); ok && o.Format == settings.FormatJSON {
		bad.Kind = badElement{bad.Kind}
	}
	return it
}

// notElement says what a value of JSON is that is neither a text nor an object, "" for others.
func notElement(b []byte) string {
	switch {
	case !json.Valid(b):
		return ""
	case b[0] == '[':
		return "an array"
	case b[0] == 't' || b[0] == 'f':
		return string(b)
	case b[0] != '"' && b[0] != '{':
		return "a number"
	}
	return ""
}

// badElement is the kind of the error of a line, said of an element of an array.
type badElement struct{ kind error }

func (e badElement) Error() string {
	if errors.Is(e.kind, jsonl.ErrLineTooLong) {
		return "the element is too long"
	}
	return "bad element"
}

func (e badElement) Unwrap() error { return e.kind }

// lineItems are records of lines, which [Options.Item] reads.
func lineItems(o Options, line func() (Line, error)) source {
	return source{line: line, next: func() (Item, error) {
		l, err := line()
		if err != nil {
			return Item{}, err
		}
		return o.Item(l), nil
	}}
}

// elements reads the elements of an array of JSON. Each is a line with the element's number.
func elements(a *table.Array) func() (Line, error) {
	return func() (Line, error) {
		b, err := a.Next()
		var long *table.RowError
		if errors.As(err, &long) {
			return Line{Number: a.Row(), TooLong: true}, nil
		}
		return Line{Number: a.Row(), Text: b}, err
	}
}

// filled are the lines that are not empty.
func filled(lines *textline.Reader) func() (Line, error) {
	return func() (Line, error) {
		for {
			b, err := lines.Next()
			switch n := lines.Number(); {
			case errors.Is(err, textline.ErrTooLong):
				return Line{Number: n, TooLong: true}, nil
			case err == io.EOF:
				return Line{}, err
			case errors.Is(err, syscall.EISDIR): // a stream, as Open refuses folders
				return Line{}, fmt.Errorf("it is a folder; name a file in it (%w)", err)
			case err != nil:
				return Line{}, fmt.Errorf("after line %d: %w", n, err)
			case len(bytes.TrimSpace(b)) > 0:
				return Line{Number: n, Text: b}, nil
			}
		}
	}
}

// number is the number of lines, −1 if they cannot be read.
func number(line func() (Line, error)) int {
	for n := 0; ; n++ {
		if _, err := line(); err == io.EOF {
			return n
		} else if err != nil {
			return -1
		}
	}
}
