package jsonl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// MaxInput is the greatest length of a line of input in bytes: far above what
// any model takes, far below what would hurt.
const MaxInput = 1 << 20

// Kinds of errors of a single line. An error that wraps one is an [*Error].
var (
	// ErrLineTooLong is a line that is longer than its limit.
	ErrLineTooLong = errors.New("the line is too long")
	// ErrJSON is a line that is not the JSON object it has to be.
	ErrJSON = errors.New("bad JSON line")
	// ErrRow is a row of a table that its header does not fit.
	ErrRow = errors.New("bad row")
	// ErrNoText is an [ErrJSON], of a line without the field that should have its text.
	ErrNoText = fmt.Errorf("%w", ErrJSON)
	// ErrFault is a panic while the line was worked on.
	ErrFault = errors.New("a fault of this program")
	// errNotFinite is a record with a number that JSON cannot have. It is of a line, whose settings
	// are to blame.
	errNotFinite = errors.New("the record has a number that is not finite")
)

// An Error says what is wrong with a line. Its message does not repeat Line,
// which the caller joins with the name of the file.
type Error struct {
	// Line is the number that the caller gave the line, from 1; 0 for none.
	Line int
	// Field is the path of the member, such as "fillings[2].spans"; "" if the whole line is meant.
	Field string
	// Kind is ErrLineTooLong, ErrJSON, ErrNoText, ErrRow, or an error that [Code] knows.
	Kind error
	// Reason is the rest of the message.
	Reason string
}

// Error says what is wrong and what helps.
func (e *Error) Error() string { return fmt.Sprintf("%v: %s", e.Kind, e.Reason) }

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// A Field is a member of the user's line: its name, and its value as written.
type Field struct {
	Name  string
	Value json.RawMessage
}

// Append appends "name":value, without white space.
func (f Field) Append(dst []byte) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	_ = Encode(b, f.Name) // every text has a value
	b.Truncate(b.Len() - len("\n"))
	b.WriteByte(':')
	err := json.Compact(b, f.Value)
	return b.Bytes(), err
}

// Encode writes any value as one line of JSON in one call, with < and & as they
// are. A value that has no JSON, such as NaN, is an error and writes nothing.
func Encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Quote is a text as a JSON value. Bytes that are not UTF-8 become U+FFFD.
func Quote(text string) json.RawMessage {
	var b bytes.Buffer
	_ = Encode(&b, text) // every text has a value
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// A Decoder reads lines within limits. A zero field stands for its default.
type Decoder struct {
	// Bytes is the greatest length of a line; 0 is 64 MiB.
	Bytes int
	// Depth is how deep arrays and objects may be nested; 0 is 64 for a line of
	// input and 72 for a record, in which a field can lie deeper.
	Depth int
	// Fillings is the greatest number of fillings of a record, and of its
	// pieces and candidates; 0 is a million.
	Fillings int
	// TextField is the member of an input that has the text; "" is "text".
	TextField string
	// Lists says that the text of an input may be a list of its words.
	Lists bool
}

// Defaults of a Decoder's limits.
const (
	defaultBytes    = 64 << 20
	defaultDepth    = 72
	defaultFillings = 1_000_000
)

// Object reads line n as one JSON object and returns its members in order.
func (d Decoder) Object(n int, line []byte) ([]Field, error) {
	most, depth := cmp.Or(d.Bytes, defaultBytes), cmp.Or(d.Depth, defaultDepth)
	bad := func(kind error, field, format string, args ...any) error {
		return &Error{n, field, kind, fmt.Sprintf(format, args...)}
	}
	switch {
	case len(line) > most:
		return nil, bad(ErrLineTooLong, "", "more than %d bytes", most)
	case !utf8.Valid(line):
		return nil, bad(ErrJSON, "", "it is not UTF-8")
	case deeper(line, depth):
		return nil, bad(ErrJSON, "", "it is nested more than %d deep", depth)
	}
	r := json.NewDecoder(bytes.NewReader(line))
	if t, err := r.Token(); err != nil || t != json.Delim('{') {
		const example = `{"id": 7, "text": "The [MASK] …"}`
		return nil, bad(ErrJSON, "", "want an object such as %s", example)
	}
	var out []Field
	seen := map[string]bool{}
	for r.More() {
		t, err := r.Token()
		if err != nil {
			return out, bad(ErrJSON, "", "%v", err)
		}
		name := t.(string) // the reader allows nothing else as a name
		var v json.RawMessage
		if err := r.Decode(&v); err != nil {
			return out, bad(ErrJSON, name, "field %q: %v", name, err)
		}
		if seen[name] {
			return out, bad(ErrJSON, name, "two fields are called %q", name)
		}
		seen[name] = true
		out = append(out, Field{name, v})
	}
	if _, err := r.Token(); errors.Is(err, io.EOF) {
		return out, bad(ErrJSON, "", "the object is not closed")
	} else if err != nil {
		return out, bad(ErrJSON, "", "%v", err)
	}
	if _, err := r.Token(); err != io.EOF {
		return out, bad(ErrJSON, "", "something follows the object")
	}
	return out, nil
}

// deeper says whether brackets outside of strings are nested more than so deep.
func deeper(line []byte, depth int) bool {
	open, quoted := 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if open++; open > depth {
				return true
			}
		case c == '}' || c == ']':
			open--
		}
	}
	return false
}
