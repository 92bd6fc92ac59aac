package jsonl

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
)

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
