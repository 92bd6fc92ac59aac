package table

import (
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
	switch {
	case n.Repeated():
		return a.list(dst, n, nil, at, rep, def)
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

// list makes the JSON of a repeated node, which has the values of the element in it. nil is the
// node itself.
func (a *assembler) list(dst []byte, n, element parquet.Node, at, rep, def int) ([]byte, error) {
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
		var err error
		if element == nil {
			dst, err = a.content(dst, n, at, rep+1, def+1)
		} else {
			dst, err = a.value(dst, element, at, rep+1, def+1)
		}
		if err != nil {
			return dst, err
		}
		if rest := a.leaves[at]; len(rest) == 0 || rest[0].RepetitionLevel() != rep+1 {
			return append(dst, ']'), nil
		}
	}
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
		return a.list(dst, list, element, at, rep, def)
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

// listOf is the repeated field of a list and the element in it, nil where the repeated field is the
// element.
func listOf(n parquet.Node) (list, element parquet.Node) {
	fields := n.Fields()
	t := n.Type()
	if t == nil || len(fields) != 1 || !fields[0].Repeated() {
		return nil, nil
	}
	switch logical(t).(type) {
	case *format.ListType:
	case *format.MapType:
		return fields[0], nil // an array of {key, value}
	default:
		return nil, nil
	}
	if !fields[0].Leaf() && len(fields[0].Fields()) == 1 {
		return fields[0], fields[0].Fields()[0]
	}
	return fields[0], nil
}
