package output

import (
	"encoding/json"
	"reflect"
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
		return texts, func(v any) any {
			return cells(v.([]string), func(s string) any { return s })
		}
	case reflect.TypeFor[[]jsonl.Span]():
		return spans, func(v any) any {
			return cells(v.([]jsonl.Span),
				func(s jsonl.Span) any { return []any{int64(s[0]), int64(s[1])} })
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
