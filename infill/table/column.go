package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

// Kind is the kind of a column's type, and says what its cells are. A cell that is nil is empty.
type Kind int

const (
	Text   Kind = iota // string
	Whole              // int64
	Number             // float64, finite
	Bool               // bool
	JSON               // json.RawMessage, any JSON value
	List               // []any, of the type Elem
	Struct             // []any, one cell for each of Fields
	Native             // []parquet.Value, of a column that [Parquet] read, as they are stored
)

// A Type is the type of a column.
type Type struct {
	Kind   Kind
	Elem   *Type    // of a List
	Fields []Column // of a Struct

	node   *field  // of a Native
	origin *origin // of a Native
}

// A Column is the name and the type of a column.
type Column struct {
	Name string
	Type Type
}

// marshal is a value as JSON with < and & as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// appendJSON appends a cell as JSON, an empty one as null.
func appendJSON(dst []byte, t Type, cell any) ([]byte, error) {
	if cell == nil {
		return append(dst, "null"...), nil
	}
	switch v := cell.(type) {
	case json.RawMessage:
		return append(dst, v...), nil
	case []any:
		return appendParts(dst, t, v)
	case []parquet.Value:
		return dst, errors.New("a cell as it is stored has no JSON here")
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return dst, fmt.Errorf("%v is not finite", v)
		}
	}
	b, err := marshal(cell)
	return append(dst, b...), err
}

// appendParts appends a list as an array and a structure as an object.
func appendParts(dst []byte, t Type, parts []any) ([]byte, error) {
	open, shut := byte('['), byte(']')
	if t.Kind == Struct {
		open, shut = '{', '}'
	}
	dst = append(dst, open)
	for i, p := range parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		of := t.Elem
		if t.Kind == Struct {
			of = &t.Fields[i].Type
			name, err := marshal(t.Fields[i].Name)
			if err != nil {
				return dst, err
			}
			dst = append(append(dst, name...), ':')
		}
		var err error
		if dst, err = appendJSON(dst, *of, p); err != nil {
			return dst, err
		}
	}
	return append(dst, shut), nil
}

// text is a cell as CSV has it.
func text(t Type, cell any) (string, error) {
	switch v := cell.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case json.RawMessage:
		var s string
		switch {
		case string(v) == "null":
			return "", nil
		case len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil:
			return s, nil
		}
	}
	b, err := appendJSON(nil, t, cell)
	return string(b), err
}

// float is a number in JSON, or one of the texts that [numberOf] makes of others.
func float(raw json.RawMessage) (float64, bool) {
	switch string(raw) {
	case `"NaN"`:
		return math.NaN(), true
	case `"Infinity"`:
		return math.Inf(1), true
	case `"-Infinity"`:
		return math.Inf(-1), true
	}
	x, err := strconv.ParseFloat(string(raw), 64)
	return x, err == nil
}

func mistyped(t Type, cell any) error {
	return fmt.Errorf("a cell of kind %d is a %T", t.Kind, cell)
}

// ErrTable is the kind of every [*Error]: a table that cannot be read.
var ErrTable = errors.New("unreadable table")

// An Error is a table that cannot be read, or not from here on. Its message does
// not have the name of the file.
type Error struct {
	Row    int    // the line (CSV, TSV) or row (Parquet) where it is, from 1; 0 for the whole table
	Reason string // what is wrong, and what to do
	Err    error  // the cause, nil for none
	// Array says that it is an array of JSON, and Row an element of it.
	Array bool
}

// Error says what is wrong and what helps.
func (e *Error) Error() string {
	of, part := ErrTable.Error(), "line"
	if e.Array {
		of, part = "unreadable JSON", "element"
	}
	if e.Row > 0 {
		return fmt.Sprintf("%s: %s %d: %s", of, part, e.Row, e.Reason)
	}
	return of + ": " + e.Reason
}

// Is says that the error is an [ErrTable].
func (e *Error) Is(target error) bool { return target == ErrTable }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// A RowError is a single row that cannot be read. The rows after it can.
type RowError struct {
	Raw     string // the row as it stands in the file, without its end
	Reason  string
	TooLong bool // the row has more bytes than the limit; Raw is empty
}

// Error says what is wrong and what helps.
func (e *RowError) Error() string { return e.Reason }

// guard makes an error of a panic: the library panics on some damaged files.
func guard(row int, err *error) {
	if r := recover(); r != nil {
		*err = &Error{Row: row, Reason: fmt.Sprintf("the Parquet file is damaged (%v)", r)}
	}
}

// damaged is the error of a row.
func damaged(row int, err error) error {
	return &Error{Row: row, Reason: "the Parquet file is damaged (" + err.Error() + ")", Err: err}
}
