package table

import (
	"errors"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// assembler makes JSON of the values of one column, as the levels of Dremel say:
// S. Melnik and others, Dremel: interactive analysis of web-scale datasets, 2010.
type assembler struct {
	first  int               // number of the first leaf
	leaves [][]parquet.Value // what is left of each leaf, in the order of the schema
}

// value makes the JSON of a node, below levels rep and def.
func (a *assembler) value(dst []byte, n *field, rep, def int) ([]byte, error) {
	switch {
	case n.Repeated():
		return a.list(dst, n, nil, rep, def)
	case n.Optional():
		if absent, err := a.absent(n, def); absent || err != nil {
			return append(dst, "null"...), err
		}
		def++
	}
	return a.content(dst, n, rep, def)
}

// list makes the JSON of a repeated node, which has the values of the element in it. nil is the
// node itself.
func (a *assembler) list(dst []byte, n, element *field, rep, def int) ([]byte, error) {
	if absent, err := a.absent(n, def); absent || err != nil {
		return append(dst, "[]"...), err
	}
	dst = append(dst, '[')
	for i := 0; ; i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if element == nil {
			dst, err = a.content(dst, n, rep+1, def+1)
		} else {
			dst, err = a.value(dst, element, rep+1, def+1)
		}
		if err != nil {
			return dst, err
		}
		if rest := a.leaves[n.at-a.first]; len(rest) == 0 || rest[0].RepetitionLevel() != rep+1 {
			return append(dst, ']'), nil
		}
	}
}

var errShort = errors.New("a column has too few values")

// absent reports whether a node is not there, and then passes over the value of each of its leaves.
func (a *assembler) absent(n *field, def int) (bool, error) {
	leaves := a.leaves[n.at-a.first:][:n.count]
	if len(leaves[0]) == 0 {
		return false, errShort
	}
	if leaves[0][0].DefinitionLevel() > def {
		return false, nil
	}
	for i, rest := range leaves {
		if len(rest) > 0 {
			leaves[i] = rest[1:]
		}
	}
	return true, nil
}

// content is the JSON of one value of a node that is there.
func (a *assembler) content(dst []byte, n *field, rep, def int) ([]byte, error) {
	if n.Leaf() {
		rest := &a.leaves[n.at-a.first]
		if len(*rest) == 0 {
			return dst, errShort
		}
		v := (*rest)[0]
		*rest = (*rest)[1:]
		return appendLeaf(dst, n.Type(), v)
	}
	// A list in its usual form is a group around a repeated group around the element.
	if list, element := listOf(n); list != nil {
		return a.list(dst, list, element, rep, def)
	}
	dst = append(dst, '{')
	var err error
	for i, f := range n.kids {
		if i > 0 {
			dst = append(dst, ',')
		}
		name, err := marshal(f.name)
		if err != nil {
			return dst, err
		}
		dst = append(append(dst, name...), ':')
		if dst, err = a.value(dst, f, rep, def); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), err
}

// listOf is the repeated field of a list and the element in it, nil where the repeated field is the
// element.
func listOf(n *field) (list, element *field) {
	if len(n.kids) != 1 || !n.kids[0].Repeated() {
		return nil, nil
	}
	list = n.kids[0]
	switch logical(n.Type()).(type) {
	case *format.ListType:
		if len(list.kids) == 1 {
			return list, list.kids[0]
		}
		return list, nil
	case *format.MapType:
		return list, nil // an array of {key, value}
	}
	return nil, nil
}
