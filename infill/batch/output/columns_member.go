package output

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"infill/infill/jsonl"
	"infill/infill/table"
)

// The types of columns.
var (
	text   = table.Type{Kind: table.Text}
	whole  = table.Type{Kind: table.Whole}
	number = table.Type{Kind: table.Number}
	object = table.Type{Kind: table.JSON} // as records have it
	texts  = listOf(text)
	spans  = listOf(listOf(whole))
)

func listOf(t table.Type) table.Type { return table.Type{Kind: table.List, Elem: &t} }

func structOf(members ...table.Column) table.Type {
	return table.Type{Kind: table.Struct, Fields: members}
}

// A member is one of a struct of records: its name in JSON, its type in a table, and its cell.
type member[T any] struct {
	table.Column
	cell func(*T) any
}

// memberOf is the member of this name, which T has. Its cell is empty where JSON leaves it out.
func memberOf[T any](name string) member[T] {
	fields, at, tag, option := reflect.VisibleFields(reflect.TypeFor[T]()), -1, "", ""
	for tag != name { // without such a member the program panics when it starts
		at++
		tag, option, _ = strings.Cut(fields[at].Tag.Get("json"), ",")
	}
	kind, cell := columnType(fields[at].Type)
	return member[T]{table.Column{Name: name, Type: kind}, func(of *T) any {
		v := reflect.ValueOf(of).Elem().FieldByIndex(fields[at].Index)
		switch {
		case v.Kind() == reflect.Pointer && v.IsNil(), v.Kind() == reflect.Slice && v.IsNil(),
			v.IsZero() && option == "omitempty":
			return nil
		case v.Kind() == reflect.Pointer:
			v = v.Elem()
		}
		return cell(v.Interface())
	}}
}

// columnType is the type of a column for values of t or *t, and the cell of such a t.
func columnType(t reflect.Type) (table.Type, func(any) any) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	itself := func(v any) any { return v }
	switch t {
	case reflect.TypeFor[string]():
		return text, itself
	case reflect.TypeFor[int]():
		return whole, func(v any) any { return int64(v.(int)) }
	case reflect.TypeFor[float64]():
		return number, itself
	case reflect.TypeFor[[]string]():
		return texts, func(v any) any { return cells(v.([]string), func(s string) any { return s }) }
	case reflect.TypeFor[[]jsonl.Span]():
		return spans, func(v any) any {
			return cells(v.([]jsonl.Span), func(s jsonl.Span) any { return []any{int64(s[0]), int64(s[1])} })
		}
	}
	return object, func(v any) any {
		b, err := json.Marshal(v)
		if err != nil { // no value of a record that was read has none
			return nil
		}
		return json.RawMessage(b)
	}
}

// cells is a list of cells; nil stays empty.
func cells[T any](list []T, cell func(T) any) any {
	if list == nil {
		return nil
	}
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = cell(v)
	}
	return out
}

// An inferrer finds the columns of JSON lines, whose fields may be others on each line.
type inferrer struct {
	names []string // in the order of their first appearance
	seen  map[string]*seenTypes
}

// seenTypes says which JSON values a field has.
type seenTypes struct{ text, bool, whole, wide, number, other bool }

// maxFields bounds the number of different fields of JSON lines that become columns.
const maxFields = 10_000

func (n *inferrer) add(f jsonl.Field) bool {
	if n.seen == nil {
		n.seen = map[string]*seenTypes{}
	}
	s := n.seen[f.Name]
	if s == nil {
		if len(n.names) == maxFields {
			return false
		}
		s = &seenTypes{}
		n.seen[f.Name], n.names = s, append(n.names, f.Name)
	}
	v := bytes.TrimSpace(f.Value)
	switch v[0] {
	case 'n':
	case '"':
		s.text = true
	case 't', 'f':
		s.bool = true
	case '[', '{':
		s.other = true
	default:
		s.digits(string(v))
	}
	return true
}

// digits notes a number. One that neither type of number holds makes the column JSON.
func (s *seenTypes) digits(v string) {
	const exact = 1 << 53 // whole numbers up to here are float64, too
	if n, err := strconv.ParseInt(v, 10, 64); err == nil && v != "-0" {
		s.whole = true
		s.wide = s.wide || n > exact || n < -exact
		return
	}
	x, err := strconv.ParseFloat(v, 64)
	if err != nil || x > exact || x < -exact {
		s.other = true
	}
	s.number = true
}

// typeOf is the narrowest type that holds all values of a field.
func (n *inferrer) typeOf(name string) table.Type {
	s := *n.seen[name]
	kinds := 0
	for _, b := range []bool{s.text, s.bool, s.whole || s.number} {
		if b {
			kinds++
		}
	}
	switch {
	case s.other || kinds > 1 || s.wide && s.number:
		return table.Type{Kind: table.JSON}
	case s.bool:
		return table.Type{Kind: table.Bool}
	case s.number:
		return table.Type{Kind: table.Number}
	case s.whole:
		return table.Type{Kind: table.Whole}
	}
	return table.Type{Kind: table.Text}
}
