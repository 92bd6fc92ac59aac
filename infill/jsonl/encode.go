package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Append encodes the record as one JSON object without a line end and appends it
// to dst. Bytes of Text, Gold and the error's message that are not UTF-8 become
// U+FFFD. A number that is not finite is an errNotFinite.
func (r *Record) Append(dst []byte) ([]byte, error) {
	r = r.valid()
	var b bytes.Buffer
	if err := Encode(&b, inOrder(r)); err != nil {
		var value *json.UnsupportedValueError
		if errors.As(err, &value) {
			err = fmt.Errorf("%w: %s; choose settings nearer to their defaults", errNotFinite, value.Str)
		}
		return dst, err
	}
	members := bytes.TrimSuffix(b.Bytes(), []byte("}\n"))
	if r.TextField != "" && r.Text != "" {
		// Quotes in the id, the only string before it, are written with a backslash.
		named := slices.Concat([]byte{','}, Quote(r.TextField), []byte{':'})
		members = bytes.Replace(members, []byte(`,"text":`), named, 1)
	}
	dst = append(dst, members...)
	// A reader must not take a field of the user's for one of the record's.
	var inner []byte
	var err error
	for _, f := range r.Fields {
		if isOwn(f.Name) && (f.Name != "gold" || r.Gold != "") {
			inner, err = f.Append(append(inner, ','))
		} else {
			dst, err = f.Append(append(dst, ','))
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

// valid is the record with nothing but UTF-8 in what came from the user, and a name for the text
// that means nothing else.
func (r *Record) valid() *Record {
	out := *r
	out.Text, out.Gold = utf8Only(r.Text), utf8Only(r.Gold)
	if isOwn(r.TextField) {
		out.TextField = ""
	}
	if r.Error != nil {
		out.Error = &Failure{r.Error.Code, utf8Only(r.Error.Message)}
	}
	return &out
}

func utf8Only(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// Write writes the record and a line end in one call.
func (r *Record) Write(w io.Writer) error {
	b, err := r.Append(nil)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
