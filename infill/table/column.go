package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go"
)

// Kind is the kind of a column's type, and says what its cells are. A cell that is
// nil is empty.
type Kind int

const (
	Text   Kind = iota // string
	Whole              // int64
	Number             // float64, finite
	Bool               // bool
	JSON               // json.RawMessage, any JSON value
	List               // []any, of the type Elem
	Struct             // []any, one cell for each of Fields
	Native             // []parquet.Value of a column that [Parquet] read, with levels
)

// A Type is the type of a column.
type Type struct {
	Kind   Kind
	Elem   *Type    // of a List
	Fields []Column // of a Struct

	node parquet.Node // of a Native
}

// A Column is the name and the type of a column.
type Column struct {
	Name string
	Type Type
}

// appendJSON appends a cell as JSON, an empty one as null.
func appendJSON(dst []byte, t Type, cell any) ([]byte, error) {
	if cell == nil {
		return append(dst, "null"...), nil
	}
	switch v := cell.(type) {
	case json.RawMessage:
		return append(dst, v...), nil
	case []any:
		return appendParts(dst, t, v)
	case []parquet.Value:
		return dst, errors.New("a cell as it is stored has no JSON here")
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return dst, fmt.Errorf("%v is not finite", v)
		}
	}
	b, err := marshal(cell)
	return append(dst, b...), err
}

// appendParts appends a list as an array and a structure as an object.
func appendParts(dst []byte, t Type, parts []any) ([]byte, error) {
	open, shut := byte('['), byte(']')
	if t.Kind == Struct {
		open, shut = '{', '}'
	}
	dst = append(dst, open)
	for i, p := range parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		of := t.Elem
		if t.Kind == Struct {
			of = &t.Fields[i].Type
			name, err := marshal(t.Fields[i].Name)
			if err != nil {
				return dst, err
			}
			dst = append(append(dst, name...), ':')
		}
		var err error
		if dst, err = appendJSON(dst, *of, p); err != nil {
			return dst, err
		}
	}
	return append(dst, shut), nil
}

// text is a cell as CSV has it.
func text(t Type, cell any) (string, error) {
	switch v := cell.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case json.RawMessage:
		var s string
		switch {
		case string(v) == "null":
			return "", nil
		case len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil:
			return s, nil
		}
	}
	b, err := appendJSON(nil, t, cell)
	return string(b), err
}
