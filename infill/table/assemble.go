package table

import (
	"encoding/json"
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// assembler makes JSON of the values of one column, as the levels of Dremel say:
// S. Melnik and others, Dremel: interactive analysis of web-scale datasets, 2010.
type assembler struct {
	leaves [][]parquet.Value // what is left of each leaf, in the order of the schema
}

// leafCount is the number of leaves under a node.
func leafCount(n parquet.Node) int {
	if n.Leaf() {
		return 1
	}
	sum := 0
	for _, f := range n.Fields() {
		sum += leafCount(f)
	}
	return sum
}

// value makes the JSON of a node whose first leaf is at, below levels rep and def.
func (a *assembler) value(dst []byte, n parquet.Node, at, rep, def int) ([]byte, error) {
	var err error
	switch {
	case n.Repeated():
		if len(a.leaves[at]) == 0 {
			return dst, errShort
		}
		dst = append(dst, '[')
		if a.leaves[at][0].DefinitionLevel() <= def {
			a.pass(n, at)
			return append(dst, ']'), nil
		}
		for i := 0; ; i++ {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = a.content(dst, n, at, rep+1, def+1); err != nil {
				return dst, err
			}
			if rest := a.leaves[at]; len(rest) == 0 || rest[0].RepetitionLevel() != rep+1 {
				return append(dst, ']'), nil
			}
		}
	case n.Optional():
		if len(a.leaves[at]) == 0 {
			return dst, errShort
		}
		if a.leaves[at][0].DefinitionLevel() <= def {
			a.pass(n, at)
			return append(dst, "null"...), nil
		}
		def++
	}
	return a.content(dst, n, at, rep, def)
}

var errShort = fmt.Errorf("a column has too few values")

// pass takes one value from each leaf of a node that is not there.
func (a *assembler) pass(n parquet.Node, at int) {
	for i := range leafCount(n) {
		if len(a.leaves[at+i]) > 0 {
			a.leaves[at+i] = a.leaves[at+i][1:]
		}
	}
}

// content is the JSON of one value of a node that is there.
func (a *assembler) content(dst []byte, n parquet.Node, at, rep, def int) ([]byte, error) {
	if n.Leaf() {
		if len(a.leaves[at]) == 0 {
			return dst, errShort
		}
		v := a.leaves[at][0]
		a.leaves[at] = a.leaves[at][1:]
		return appendLeaf(dst, n.Type(), v)
	}
	// A list in its usual form is a group around a repeated group around the element.
	if list, element := listOf(n); list != nil {
		inner, err := a.value(nil, list, at, rep, def)
		if err != nil || element == "" {
			return append(dst, inner...), err
		}
		return appendElements(dst, inner, element)
	}
	dst = append(dst, '{')
	var err error
	for i, f := range n.Fields() {
		if i > 0 {
			dst = append(dst, ',')
		}
		name, err := marshal(f.Name())
		if err != nil {
			return dst, err
		}
		dst = append(append(dst, name...), ':')
		if dst, err = a.value(dst, f, at, rep, def); err != nil {
			return dst, err
		}
		at += leafCount(f)
	}
	return append(dst, '}'), err
}

// listOf is the repeated field of a list and the name of the element in it, "" where
// the repeated field is the element.
func listOf(n parquet.Node) (list parquet.Node, element string) {
	fields := n.Fields()
	t := n.Type()
	if t == nil || len(fields) != 1 || !fields[0].Repeated() {
		return nil, ""
	}
	switch logical(t).(type) {
	case *format.ListType:
	case *format.MapType:
		return fields[0], "" // an array of {key, value}
	default:
		return nil, ""
	}
	if inner := fields[0].Fields(); !fields[0].Leaf() && len(inner) == 1 {
		return fields[0], inner[0].Name()
	}
	return fields[0], ""
}

// appendElements appends the array of objects of one member as an array of the members.
func appendElements(dst, array []byte, name string) ([]byte, error) {
	var objects []map[string]json.RawMessage
	if err := json.Unmarshal(array, &objects); err != nil {
		return dst, err
	}
	dst = append(dst, '[')
	for i, o := range objects {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, o[name]...)
	}
	return append(dst, ']'), nil
}
