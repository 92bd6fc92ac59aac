package jsonl

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

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
	add(reflect.TypeFor[Record]())
	return out
}()

var index = members[reflect.TypeFor[Record]()]

// inputFields is the member with the user's fields whose names records use.
const inputFields = "input_fields"

// isOwn reports whether records use a name themselves.
func isOwn(name string) bool {
	_, ok := index[name]
	return ok || name == inputFields
}

// order are the members of a record as they are written: those of its kinds among those that all
// have. A member that is left out here is never written, which a test sees.
var order = strings.Fields(`
	id line text gold masked original_score doubts shown window groups windows filled fillings ranks
	score score_per_token energies pair difference pieces words regions
	candidates scoring lengths looked_at method ended exact rounds missing
	sampler seed steps chains distinct start collect device precision marginals
	move_share acceptance step_size tuned shortlist zero_states non_finite_states model_rows
	repeated_rows text_field model version labelled_source error`)

// ordered is a record as one struct with its members in order.
var ordered = func() reflect.Type {
	fields := make([]reflect.StructField, len(order))
	for i, name := range order {
		f := reflect.TypeFor[Record]().FieldByIndex(index[name])
		fields[i] = reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag}
	}
	return reflect.StructOf(fields)
}()

// inOrder is a record with its members in order.
func inOrder(r *Record) any {
	from, to := reflect.ValueOf(r).Elem(), reflect.New(ordered).Elem()
	for i, name := range order {
		to.Field(i).Set(from.FieldByIndex(index[name]))
	}
	return to.Interface()
}

// Keep makes fields of the user's line the record's Fields. Left out are the
// settings, which the record has with the same value.
func (r *Record) Keep(fields []Field, setting func(name string) bool) {
	r.Fields = nil
	for _, f := range fields {
		if !setting(f.Name) || !r.says(f) {
			r.Fields = append(r.Fields, f)
		}
	}
}

// says reports whether the record has a member of this name and value.
func (r *Record) says(f Field) bool {
	i, ok := index[f.Name]
	if !ok {
		return false
	}
	v := reflect.ValueOf(r).Elem().FieldByIndex(i)
	b, err := json.Marshal(v.Interface())
	return !v.IsZero() && err == nil && string(b) == string(bytes.TrimSpace(f.Value))
}
