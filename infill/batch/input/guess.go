package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"infill/infill/settings"
	"infill/internal/textline"
)

// ErrNotLines: the input is neither lines nor a table.
var ErrNotLines = errors.New("no lines of text")

// A NotLinesError is an input that is neither lines nor a table. It wraps ErrNotLines.
type NotLinesError struct {
	What string // what it looks like, and what to do
	Text bool   // the format text reads it, if somebody says that it is text
	// Texts is the column with the texts, from 1, of lines that have a tab between a text and its
	// label, and Header its name, "" for none. It is 0 for others.
	Texts  int
	Header string
}

// Error says what is wrong and what helps.
func (e *NotLinesError) Error() string {
	or := ""
	if e.Text {
		or = ", or say that it is text"
	}
	return fmt.Sprintf("%v: %s%s", ErrNotLines, e.What, or)
}

// Unwrap returns the sentinel.
func (e *NotLinesError) Unwrap() error { return ErrNotLines }

// guess decides between text, JSON lines and an array of JSON by the first bytes of an input,
// unless its name has. Many call JSON lines .json. What is none of them is refused: a filling for
// each line of a picture, or of other JSON, is not what anybody asked for. The error is a
// [*NotLinesError].
func guess(named settings.Format, head []byte) (settings.Format, error) {
	if kind := textline.Foreign(head); kind != "" {
		return named, notLines(head, "it looks like %s; give text or JSON lines in UTF-8, or a table",
			kind)
	}
	looks := columns(head)
	switch of := pair.FindSubmatch(head); {
	case looks.treebank:
		return named, notLines(head, "it looks like a treebank (CoNLL-U), whose columns are not read; "+
			"give columns with a token and its tag, such as B-PER, or JSON lines with spans: "+
			`{"text": "Ann slept.", "spans": [{"start": 0, "end": 3, "label": "PER"}]}`)
	case named == settings.FormatCoNLL:
		return named, nil
	case looks.is:
		return settings.FormatCoNLL, nil
	case of != nil && of[1] == nil:
		return settings.FormatJSONL, nil
	case of != nil:
		return settings.FormatJSON, nil
	}
	if named == settings.FormatText {
		return named, textLines(head)
	}
	if named != settings.FormatAuto && named != settings.FormatJSON {
		return named, nil
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return named, notLines(head, "it has NUL bytes, as pictures and programs have; give text or "+
			"JSON lines in UTF-8, or a table")
	}
	first, rest, whole := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	first = bytes.TrimRight(first, " \t\r")
	switch {
	case array(first, rest):
		return settings.FormatJSON, nil
	case string(first) == "{":
		return settings.FormatJSON, nil
	case len(first) > 0 && first[0] == '{' && named == settings.FormatJSON &&
		(json.Valid(first) && len(bytes.TrimSpace(rest)) == 0 || !json.Valid(first) && object(head)):
		return settings.FormatJSON, nil // one object, or lines, as the reader finds out
	case len(first) > 0 && first[0] == '{' &&
		(json.Valid(first) || !whole && bytes.Contains(first, []byte(`"text"`))):
		return settings.FormatJSONL, nil
	case named == settings.FormatJSON && len(first) > 0:
		return named, notLines(head, "its name says JSON, and it is neither an array of texts or "+
			"objects nor JSON lines; mend it")
	}
	return settings.FormatText, textLines(head)
}

// object reports whether an input that begins so is a value of JSON, which may stand on lines.
func object(head []byte) bool {
	var value json.RawMessage
	err := json.NewDecoder(bytes.NewReader(head)).Decode(&value)
	return err == nil || errors.Is(err, io.ErrUnexpectedEOF) && len(head) > textline.PeekSize/2
}

// textLines is an error for text whose lines end in carriage returns alone, which would be one
// sentence, and for texts with labels, which would be varied too. Where there are line ends, a
// carriage return is a character like others.
func textLines(head []byte) error {
	if bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(bytes.TrimSpace(head), '\r') >= 0 {
		return &NotLinesError{What: "its lines end in carriage returns alone, as in old Macintosh " +
			"files; make line ends of them first (tr '\\r' '\\n')"}
	}
	texts, header := labelled(head)
	if texts == 0 {
		return nil
	}
	err := notLines(head, "each line is a text and its label, with a tab between; say that it is a "+
		"table")
	err.Texts, err.Header = texts, header
	return err
}

// labelled is the column of the texts, from 1, of lines that have a text and a label with a tab
// between, and its name if the first line has names; 0 for other lines. Labels are single words, or
// few.
func labelled(head []byte) (texts int, header string) {
	var cells [2][]string
	for _, line := range wholeLines(head) {
		row := strings.Split(strings.TrimSpace(line), "\t")
		switch {
		case len(row) == 2:
			cells[0], cells[1] = append(cells[0], row[0]), append(cells[1], row[1])
		case row[0] != "" || len(row) > 1:
			return 0, ""
		}
	}
	for k, of := range cells {
		kinds, others := map[string]bool{}, cells[1-k]
		single := !slices.ContainsFunc(of, func(c string) bool { return strings.Contains(c, " ") })
		spaced := 0
		for i := range of {
			kinds[of[i]] = true
			spaced += count(strings.Contains(others[i], " "))
		}
		if len(of) < 2 || 2*spaced < len(of) || !single && 4*len(kinds) > len(of) {
			continue
		}
		if single && !strings.Contains(others[0], " ") {
			header = others[0]
		}
		return 2 - k, header
	}
	return 0, ""
}

// notLines is the error of an input that begins so. Only UTF-8 can be read as text after all.
func notLines(head []byte, format string, args ...any) *NotLinesError {
	return &NotLinesError{What: fmt.Sprintf(format, args...), Text: utf8.Valid(textline.Whole(head))}
}

// LooksArray reports whether an input that begins so is an array of JSON, and not text.
func LooksArray(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	first, rest, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	return array(bytes.TrimRight(first, " \t\r"), rest)
}

// array reports whether an array of JSON begins with this line and what follows it. A sentence may
// begin with a bracket too, as [MASK] and links of a wiki do.
func array(first, rest []byte) bool {
	if len(first) == 0 || first[0] != '[' {
		return false
	}
	inside := bytes.TrimLeft(first[1:], " \t")
	if len(inside) == 0 {
		inside = bytes.TrimLeft(rest, " \t\r\n")
	}
	if string(inside) == "]" { // there is nothing in it
		return len(bytes.TrimSpace(rest)) == 0
	}
	return len(inside) > 0 && bytes.IndexByte([]byte("{\""), inside[0]) >= 0
}
