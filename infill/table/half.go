package table

import (
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// half is the type of numbers of 16 bits. The library reads them as two bytes and forgets
// what they mean.
type half struct{ parquet.Type }

func (half) LogicalType() *format.LogicalType {
	return &format.LogicalType{Value: &format.Float16Type{}}
}

// halfLeaf is a leaf of type half.
type halfLeaf struct{ parquet.Node }

func (h halfLeaf) Type() parquet.Type { return half{h.Node.Type()} }

// withHalves gives the leaves of a node their type half where the schema of the file says so.
// elements begin with the node's own and go on in the order of the tree. It returns those that
// follow the node's part of the tree.
func withHalves(n parquet.Field, elements []format.SchemaElement) (parquet.Field,
	[]format.SchemaElement) {
	if len(elements) == 0 {
		return n, nil
	}
	lt := elements[0].LogicalType.Value
	elements = elements[1:]
	if n.Leaf() {
		if _, ok := lt.(*format.Float16Type); ok {
			return &field{Node: halfLeaf{n}, name: n.Name()}, elements
		}
		return n, elements
	}
	fields, changed := n.Fields(), false
	out := make([]parquet.Field, len(fields))
	for i, f := range fields {
		out[i], elements = withHalves(f, elements)
		changed = changed || out[i] != f
	}
	if !changed {
		return n, elements
	}
	return &field{Node: n, name: n.Name(), fields: out}, elements
}
