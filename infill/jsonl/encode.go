package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrNotFinite is a record with a number that JSON cannot have. It is of a line, whose settings are
// to blame.
var ErrNotFinite = errors.New("the record has a number that is not finite")

// Append encodes a record as one JSON object without a line end and appends it
// to dst. Bytes of Text, Gold and the error's message that are not UTF-8 become
// U+FFFD. A number that is not finite is an ErrNotFinite.
func Append(dst []byte, r *Record) ([]byte, error) {
	r = r.valid()
	b := bytes.NewBuffer(dst)
	if err := Encode(b, r); err != nil {
		var value *json.UnsupportedValueError
		if errors.As(err, &value) {
			err = fmt.Errorf("%w: %s; choose settings nearer to their defaults", ErrNotFinite, value.Str)
		}
		return dst, err
	}
	dst = bytes.TrimSuffix(b.Bytes(), []byte("}\n"))
	// A reader must not take a field of the user's for one of the record's.
	var inner []byte
	var err error
	for _, f := range r.Fields {
		if own(f.Name) && (f.Name != "gold" || r.Gold != "") {
			inner, err = appendField(append(inner, ','), f)
		} else {
			dst, err = appendField(append(dst, ','), f)
		}
		if err != nil {
			return dst, err
		}
	}
	if inner != nil {
		dst = append(append(dst, `,"`+inputFields+`":{`...), inner[1:]...)
		dst = append(dst, '}')
	}
	return append(dst, '}'), nil
}

// appendField appends "name":value.
func appendField(dst []byte, f Field) ([]byte, error) {
	name, err := quoted(f.Name)
	if err != nil {
		return dst, err
	}
	b := bytes.NewBuffer(append(append(dst, name...), ':'))
	err = json.Compact(b, f.Value)
	return b.Bytes(), err
}

// valid is the record with nothing but UTF-8 in what came from the user.
func (r *Record) valid() *Record {
	out := *r
	out.Text, out.Gold = utf8Only(r.Text), utf8Only(r.Gold)
	if r.Error != nil {
		out.Error = &Failure{r.Error.Code, utf8Only(r.Error.Message)}
	}
	return &out
}

func utf8Only(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// Write writes a record and a line end in one call.
func Write(w io.Writer, r *Record) error {
	b, err := Append(nil, r)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// WriteStep writes a line of a trace in one call.
func WriteStep(w io.Writer, s *Step) error { return Encode(w, s) }

// Encode writes any value as one line of JSON in one call, with < and & as they
// are. A value that has no JSON, such as NaN, is an error and writes nothing.
func Encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
