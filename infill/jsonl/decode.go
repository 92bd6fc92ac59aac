package jsonl

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"infill/internal/jsonwords"
)

// Record reads line n as a record. Members that records do not use are in its
// Fields. A member that is null counts as absent. The objects inside, such as
// fillings, have no members but the known ones. Errors are of type [*Error].
func (d Decoder) Record(n int, line []byte) (*Record, error) {
	fields, err := d.Object(n, line)
	if err != nil {
		return nil, err
	}
	rec := &Record{}
	v := reflect.ValueOf(rec).Elem()
	var inner []Field
	for _, f := range fields {
		i, known := index[f.Name]
		switch {
		case f.Name == inputFields:
			if inner, err = d.inner(n, f.Value); err != nil {
				return nil, err
			}
			continue
		case !known || f.Name == "gold" && f.Value[0] != '"':
			rec.Fields = append(rec.Fields, f)
			continue
		case string(f.Value) == "null":
			continue
		}
		if err := d.member(n, f.Name, f.Value, v.FieldByIndex(i)); err != nil {
			return nil, err
		}
	}
	if rec.TextField != "" {
		if err := rec.named(n); err != nil {
			return nil, err
		}
	}
	for _, f := range inner {
		if f.Name == "gold" && rec.Gold == "" {
			return nil, &Error{n, inputFields, ErrJSON, "input_fields has a gold and the record has none"}
		}
	}
	rec.Fields = append(rec.Fields, inner...)
	if field, reason := rec.check(); reason != "" {
		return nil, &Error{n, field, ErrJSON, fmt.Sprintf("field %q: %s", field, reason)}
	}
	return rec, nil
}

// named takes the text from the field that has it.
func (r *Record) named(n int) error {
	at := slices.IndexFunc(r.Fields, func(f Field) bool { return f.Name == r.TextField })
	switch {
	case isOwn(r.TextField):
		return &Error{n, "text_field", ErrJSON, `field "text_field": records use this name`}
	case at < 0:
		return nil
	case r.Text != "":
		return &Error{n, "text_field", ErrJSON, `field "text_field": the record has a text besides`}
	}
	value := r.Fields[at].Value
	r.Fields = slices.Delete(r.Fields, at, at+1)
	return Decoder{}.member(n, r.TextField, value, reflect.ValueOf(&r.Text).Elem())
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
		switch {
		case !known:
			return &Error{n, at, ErrJSON, fmt.Sprintf("field %q: records have no such field", at)}
		case string(f.Value) == "null":
			continue
		}
		text = text || f.Name == "text"
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

// check returns the first member whose value makes no sense, and why.
func (r *Record) check() (field, reason string) {
	negative := func(n int) string {
		if n < 0 {
			return fmt.Sprintf("%d is below 0", n)
		}
		return ""
	}
	for _, c := range []struct {
		name string
		n    int
	}{
		{"line", r.Line}, {"steps", r.Steps}, {"chains", r.Chains}, {"distinct", r.Distinct},
		{"shortlist", r.Shortlist}, {"zero_states", r.Zero}, {"non_finite_states", r.NonFinite},
		{"rounds", r.Rounds}, {"windows", r.Windows}, {"missing", r.Missing},
		{"model_rows", r.Rows}, {"repeated_rows", r.Repeated},
	} {
		if s := negative(c.n); s != "" {
			return c.name, s
		}
	}
	switch {
	case r.ID != nil && !isID(r.ID):
		return "id", "it is neither a string nor a number"
	case r.Acceptance != nil && !(*r.Acceptance >= 0 && *r.Acceptance <= 1):
		return "acceptance", fmt.Sprintf("%v is not from 0 to 1", *r.Acceptance)
	case r.MoveShare != nil && !(*r.MoveShare >= 0 && *r.MoveShare <= 1):
		return "move_share", fmt.Sprintf("%v is not from 0 to 1", *r.MoveShare)
	case r.Window != nil && r.Text != "" && r.Window[1] > len(r.Text):
		return "window", fmt.Sprintf("%v of a text of %d bytes", *r.Window, len(r.Text))
	}
	for i := range r.Fillings {
		f := &r.Fillings[i]
		for _, s := range f.Spans {
			if s[1] > len(f.Text) {
				return fmt.Sprintf("fillings[%d].spans", i),
					fmt.Sprintf("%v of a text of %d bytes", s, len(f.Text))
			}
		}
		if p := f.Probability; p != nil && !(*p >= 0 && *p <= 1) {
			return fmt.Sprintf("fillings[%d].probability", i), fmt.Sprintf("%v is not from 0 to 1", *p)
		}
		for _, n := range []int{f.Chain, f.Step, f.Count, f.Round} {
			if s := negative(n); s != "" {
				return fmt.Sprintf("fillings[%d]", i), s
			}
		}
	}
	if field, reason := badMarginals(r.Marginals); reason != "" {
		return field, reason
	}
	return "", ""
}
