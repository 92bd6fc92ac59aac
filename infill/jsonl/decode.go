package jsonl

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"infill/internal/jsonwords"
)

// Record reads line n as a record. Members that records of its kind do not use are in its
// Fields. A member that is null counts as absent. The objects inside, such as
// fillings, have no members but the known ones. Errors are of type [*Error].
func (d Decoder) Record(n int, line []byte) (Record, error) {
	fields, err := d.Object(n, line)
	if err != nil {
		return nil, err
	}
	return d.RecordOf(n, fields)
}

// RecordOf is Record for the members of a line.
func (d Decoder) RecordOf(n int, fields []Field) (_ Record, err error) {
	rec := kindOf(fields)
	v, it, from := reflect.ValueOf(rec).Elem(), rec.Of(), rec.By()
	var inner []Field
	for _, f := range fields {
		i, known := members[v.Type()][f.Name]
		switch {
		case f.Name == inputFields:
			inner, err = d.inner(n, f.Value)
		case !known || f.Name == "gold" && f.Value[0] != '"':
			from.Fields = append(from.Fields, f)
		default:
			err = d.member(n, f.Name, f.Value, v.FieldByIndex(i))
		}
		if err != nil {
			return nil, err
		}
	}
	if from.TextField != "" {
		if err := named(n, it, from); err != nil {
			return nil, err
		}
	}
	for _, f := range inner {
		if f.Name == "gold" && it.Gold == "" {
			return nil, &Error{n, inputFields, ErrJSON, "input_fields has a gold and the record has none"}
		}
	}
	from.Fields = append(from.Fields, inner...)
	if field, reason := rec.wrong(); reason != "" {
		return nil, &Error{n, field, ErrJSON, fmt.Sprintf("field %q: %s", field, reason)}
	}
	return rec, nil
}

// named takes the text from the field that has it.
func named(n int, it *Item, from *Origin) error {
	at := slices.IndexFunc(from.Fields, func(f Field) bool { return f.Name == from.TextField })
	switch {
	case isOwn(from.TextField):
		return &Error{n, "text_field", ErrJSON, `field "text_field": records use this name`}
	case at < 0:
		return nil
	case it.Text != "":
		return &Error{n, "text_field", ErrJSON, `field "text_field": the record has a text besides`}
	}
	value := from.Fields[at].Value
	from.Fields = slices.Delete(from.Fields, at, at+1)
	return Decoder{}.member(n, from.TextField, value, reflect.ValueOf(&it.Text).Elem())
}

// inner reads the user's fields whose names records use.
func (d Decoder) inner(n int, value []byte) ([]Field, error) {
	fields, err := d.Object(n, value)
	if err != nil {
		err.(*Error).Field = inputFields
		return nil, err
	}
	for _, f := range fields {
		if !isOwn(f.Name) {
			return nil, &Error{n, inputFields, ErrJSON,
				fmt.Sprintf("field %q: no record uses the name %q", inputFields, f.Name)}
		}
	}
	return fields, nil
}

// member decodes the value at a path into a field. It takes objects apart with
// Object, so that no member inside is lost and an error can name the one it means.
func (d Decoder) member(n int, path string, value []byte, to reflect.Value) error {
	if string(value) == "null" {
		return nil
	}
	if to.Kind() == reflect.Pointer && to.Type().Elem().Kind() == reflect.Struct {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	switch {
	case to.Kind() == reflect.Struct:
		return d.object(n, path, value, to)
	case to.Kind() == reflect.Slice && to.Type().Elem().Kind() == reflect.Struct:
		return d.list(n, path, value, to)
	case to.Kind() == reflect.Map && value[0] == '{':
		if _, err := d.within(n, path, value); err != nil {
			return err
		}
	}
	if err := json.Unmarshal(value, to.Addr().Interface()); err != nil {
		return fieldError(n, path, err)
	}
	return inRange(n, path, to)
}

// most are the greatest values of members that have a range, whose least is 0.
var most = map[string]float64{"acceptance": 1, "move_share": 1, "probability": 1, "rest": 1,
	"standard_error": math.Inf(1), "ess": math.Inf(1), "r_hat": math.Inf(1)}

// inRange is an error for a member that makes no sense: a whole number below 0, or a value that is
// not in the range of its name.
func inRange(n int, path string, v reflect.Value) error {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	most, bounded := most[path[strings.LastIndexByte(path, '.')+1:]]
	reason := ""
	switch {
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Int:
		for i := range v.Len() {
			if err := inRange(n, path, v.Index(i)); err != nil {
				return err
			}
		}
	case v.CanInt() && v.Int() < 0:
		reason = fmt.Sprintf("%d is below 0", v.Int())
	case !bounded || !v.CanFloat() || v.Float() >= 0 && v.Float() <= most:
	case most == 1:
		reason = fmt.Sprintf("%v is not from 0 to 1", v.Float())
	default:
		reason = fmt.Sprintf("%v is below 0", v.Float())
	}
	if reason != "" {
		return &Error{n, path, ErrJSON, fmt.Sprintf("field %q: %s", path, reason)}
	}
	return nil
}

// list decodes a list of objects.
func (d Decoder) list(n int, path string, value []byte, to reflect.Value) error {
	var list []json.RawMessage
	if err := json.Unmarshal(value, &list); err != nil {
		return fieldError(n, path, err)
	}
	if most := cmp.Or(d.Fillings, defaultFillings); len(list) > most {
		return &Error{n, path, ErrJSON,
			fmt.Sprintf("field %q has %d elements, at most %d", path, len(list), most)}
	}
	to.Set(reflect.MakeSlice(to.Type(), len(list), len(list)))
	for i, b := range list {
		if err := d.object(n, fmt.Sprintf("%s[%d]", path, i), b, to.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// object decodes an object with nothing but the members of its struct.
func (d Decoder) object(n int, path string, value []byte, to reflect.Value) error {
	if value[0] != '{' {
		// The error has the words of encoding/json.
		return fieldError(n, path, cmp.Or(json.Unmarshal(value, &map[string]json.RawMessage{}),
			errors.New("want an object")))
	}
	fields, err := d.within(n, path, value)
	if err != nil {
		return err
	}
	text := false
	for _, f := range fields {
		at := path + "." + f.Name
		i, known := members[to.Type()][f.Name]
		if !known {
			return &Error{n, at, ErrJSON, fmt.Sprintf("field %q: records have no such field", at)}
		}
		text = text || f.Name == "text" && string(f.Value) != "null"
		if err := d.member(n, at, f.Value, to.FieldByIndex(i)); err != nil {
			return err
		}
	}
	if !text && to.Type() == reflect.TypeFor[Filling]() {
		return fieldError(n, path, errors.New("the filling has no text"))
	}
	return nil
}

// within is Object for the value at a path, which its errors name.
func (d Decoder) within(n int, path string, value []byte) ([]Field, error) {
	fields, err := d.Object(n, value)
	if err == nil {
		return fields, nil
	}
	e := err.(*Error)
	if e.Field != "" {
		path += "." + e.Field
	}
	return nil, &Error{n, path, e.Kind, fmt.Sprintf("field %q: %s", path, e.Reason)}
}

// fieldError names the member inside a field that has another type.
func fieldError(n int, name string, err error) *Error {
	e := &Error{Line: n, Field: name, Kind: ErrJSON}
	var t *json.UnmarshalTypeError
	if !errors.As(err, &t) {
		e.Reason = fmt.Sprintf("field %q: %v", name, err)
		return e
	}
	if t.Field != "" {
		e.Field += "." + t.Field
	}
	e.Reason = fmt.Sprintf("field %q is a JSON %s, want %s", e.Field, t.Value, jsonwords.Want(t.Type))
	return e
}

// wrong finds an id that is none.
func (it *Item) wrong() (field, reason string) {
	if it.ID != nil && !isID(it.ID) {
		return "id", "it is neither a string nor a number"
	}
	return "", ""
}

// wrong finds places that are not in their text, too.
func (r *Filled) wrong() (field, reason string) {
	outside := func(s Span, text string) bool {
		reason = fmt.Sprintf("%v of a text of %d bytes", s, len(text))
		return s[1] > len(text)
	}
	if r.Window != nil && r.Text != "" && outside(*r.Window, r.Text) {
		return "window", reason
	}
	for i := range r.Fillings {
		for _, s := range r.Fillings[i].Spans {
			if outside(s, r.Fillings[i].Text) {
				return fmt.Sprintf("fillings[%d].spans", i), reason
			}
		}
	}
	return r.Item.wrong()
}
