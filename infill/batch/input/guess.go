package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	is, treebank, _ := columns(head)
	switch of := pair.FindSubmatch(head); {
	case treebank:
		return named, notLines(head, "it looks like a treebank (CoNLL-U), whose columns are not read; "+
			"give columns with a token and its tag, such as B-PER, or JSON lines with spans: "+
			`{"text": "Ann slept.", "spans": [{"start": 0, "end": 3, "label": "PER"}]}`)
	case named == settings.FormatCoNLL:
		return named, nil
	case is:
		return settings.FormatCoNLL, nil
	case of != nil && of[1] == nil:
		return settings.FormatJSONL, nil
	case of != nil:
		return settings.FormatJSON, nil
	}
	if named == settings.FormatText {
		return named, oldEnds(head)
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
	return settings.FormatText, oldEnds(head)
}

// object reports whether an input that begins so is a value of JSON, which may stand on lines.
func object(head []byte) bool {
	var value json.RawMessage
	err := json.NewDecoder(bytes.NewReader(head)).Decode(&value)
	return err == nil || errors.Is(err, io.ErrUnexpectedEOF) && len(head) > textline.PeekSize/2
}

// oldEnds is an error for text whose lines end in carriage returns alone. It would be one sentence.
// Where there are line ends too, a carriage return is a character like others.
func oldEnds(head []byte) error {
	if bytes.IndexByte(head, '\n') >= 0 || bytes.IndexByte(bytes.TrimSpace(head), '\r') < 0 {
		return nil
	}
	return &NotLinesError{What: "its lines end in carriage returns alone, as in old Macintosh " +
		"files; make line ends of them first (tr '\\r' '\\n')"}
}

// notLines is the error of an input that begins so. Only UTF-8 can be read as text after all.
func notLines(head []byte, format string, args ...any) error {
	for i := len(head) - 1; i >= 0 && i > len(head)-utf8.UTFMax; i-- {
		if utf8.RuneStart(head[i]) {
			if !utf8.FullRune(head[i:]) { // the last character is cut
				head = head[:i]
			}
			break
		}
	}
	return &NotLinesError{What: fmt.Sprintf(format, args...), Text: utf8.Valid(head)}
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
