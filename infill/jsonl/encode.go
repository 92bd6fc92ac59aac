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
// U+FFFD, in the record too. A number that is not finite is an errNotFinite.
func Append(dst []byte, r Record) ([]byte, error) {
	it, from := r.Of(), r.By()
	it.Text, it.Gold = utf8Only(it.Text), utf8Only(it.Gold)
	if isOwn(from.TextField) {
		from.TextField = "" // the name means something else
	}
	if e := from.Error; e != nil {
		from.Error = &Failure{e.Code, utf8Only(e.Message)}
	}
	var b bytes.Buffer
	if err := Encode(&b, r); err != nil {
		var value *json.UnsupportedValueError
		if errors.As(err, &value) {
			err = fmt.Errorf("%w: %s; choose settings nearer to their defaults", errNotFinite, value.Str)
		}
		return dst, err
	}
	members := bytes.TrimSuffix(b.Bytes(), []byte("}\n"))
	if from.TextField != "" && it.Text != "" {
		// Quotes in the id, the only string before it, are written with a backslash.
		named := slices.Concat([]byte{','}, Quote(from.TextField), []byte{':'})
		members = bytes.Replace(members, []byte(`,"text":`), named, 1)
	}
	dst = append(dst, members...)
	// A reader must not take a field of the user's for one of the record's.
	var inner []byte
	var err error
	for _, f := range from.Fields {
		if isOwn(f.Name) && (f.Name != "gold" || it.Gold != "") {
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

func utf8Only(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// Write writes the record and a line end in one call.
func Write(w io.Writer, r Record) error {
	b, err := Append(nil, r)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
