package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
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

// kinds are the types of records.
var kinds = []reflect.Type{reflect.TypeFor[Filled](), reflect.TypeFor[Scored](),
	reflect.TypeFor[Ranked](), reflect.TypeFor[Failed]()}

// members have, for every struct of a record, the place of each of its members
// among its fields, by name.
var members = func() map[reflect.Type]map[string][]int {
	out := map[reflect.Type]map[string][]int{}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			add(t.Elem())
		}
		if t.Kind() != reflect.Struct || out[t] != nil {
			return
		}
		out[t] = map[string][]int{}
		for _, f := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" && !f.Anonymous {
				out[t][name] = f.Index
				add(f.Type)
			}
		}
	}
	for _, t := range kinds {
		add(t)
	}
	return out
}()

// inputFields is the member with the user's fields whose names records use.
const inputFields = "input_fields"

// isOwn reports whether records of any kind use a name themselves.
func isOwn(name string) bool {
	return name == inputFields || slices.ContainsFunc(kinds, func(t reflect.Type) bool {
		return members[t][name] != nil
	})
}

// kindOf is an empty record of the kind that has these members.
func kindOf(fields []Field) Record {
	has := map[string]bool{}
	for _, f := range fields {
		has[f.Name] = string(f.Value) != "null"
	}
	switch {
	case has["fillings"] || has["method"]:
	case has["candidates"]:
		return &Ranked{}
	case has["score"]:
		return &Scored{}
	case has["error"]:
		return &Failed{}
	}
	return &Filled{}
}

// Keep makes fields of the user's line the record's Fields. Left out are the
// settings, which the record has with the same value.
func Keep(r Record, fields []Field, setting func(name string) bool) {
	r.By().Fields = nil
	var own []Field // what the record says, found if it matters
	if slices.ContainsFunc(fields, func(f Field) bool { return setting(f.Name) }) {
		b, _ := Append(nil, r) // one that has no JSON is an error when it is written
		own, _ = Decoder{}.Object(0, b)
	}
	for _, f := range fields {
		if !setting(f.Name) || !slices.ContainsFunc(own, func(o Field) bool {
			return o.Name == f.Name && bytes.Equal(o.Value, bytes.TrimSpace(f.Value))
		}) {
			r.By().Fields = append(r.By().Fields, f)
		}
	}
}
