package table

import (
	"reflect"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// A field is a node with a name. Unlike a parquet.Group it keeps the order of its
// fields, and it leaves compression and, where encoding is nil, encoding to the writer.
type field struct {
	parquet.Node
	name     string
	kids     []*field
	at       int // number of its first leaf in the file, from 0
	count    int // of its leaves
	encoding encoding.Encoding
	own      parquet.Type // in place of the node's, nil for that
}

// fieldOf is a node as a field, with the nodes in it. at is the number of its first leaf.
// elements begin with the node's own in the schema of a file, and go on in the order of the tree.
// It returns those that follow the node's part of the tree.
func fieldOf(name string, n parquet.Node, at int, elements []format.SchemaElement) (*field,
	[]format.SchemaElement) {
	f := &field{Node: n, name: name, at: at}
	if was, ok := n.(*field); ok {
		f.Node, f.own = was.Node, was.own
	}
	if len(elements) > 0 {
		if _, ok := elements[0].LogicalType.Value.(*format.Float16Type); ok && n.Leaf() {
			f.own = half{n.Type()}
		}
		elements = elements[1:]
	}
	if n.Leaf() {
		f.count = 1
		return f, elements
	}
	for _, inner := range n.Fields() {
		elements = f.add(inner.Name(), inner, elements)
	}
	return f, elements
}

// add puts a node into a field. See fieldOf.
func (f *field) add(name string, n parquet.Node,
	elements []format.SchemaElement) []format.SchemaElement {
	kid, elements := fieldOf(name, n, f.at+f.count, elements)
	f.kids, f.count = append(f.kids, kid), f.count+kid.count
	return elements
}

func (f *field) Fields() (out []parquet.Field) {
	for _, kid := range f.kids {
		out = append(out, kid)
	}
	return out
}

func (f *field) Name() string                          { return f.name }
func (f *field) Encoding() encoding.Encoding           { return f.encoding }
func (f *field) Compression() compress.Codec           { return nil }
func (f *field) Value(reflect.Value) (v reflect.Value) { return v }

func (f *field) Type() parquet.Type {
	if f.own != nil {
		return f.own
	}
	return f.Node.Type()
}

// GoType is never used to write: rows are given as values.
func (f *field) GoType() reflect.Type {
	if _, own := f.Node.(parquet.Group); own {
		return reflect.TypeFor[map[string]any]()
	}
	return f.Node.GoType()
}

// A categoryType is a type whose dictionaries begin with categories, used or not. Arrow takes the
// order of categories from there.
type categoryType struct {
	parquet.Type
	all parquet.Dictionary
}

func (t categoryType) NewDictionary(column, n int, data encoding.Values) parquet.Dictionary {
	d := categories{t.Type.NewDictionary(column, n, data), t.all}
	d.Reset()
	return d
}

// categories is the dictionary of a row group.
type categories struct {
	parquet.Dictionary
	all parquet.Dictionary
}

func (c categories) Reset() {
	c.Dictionary.Reset()
	addAll(c.Dictionary, c.all)
}

// addAll adds the values of a dictionary that another one lacks.
func addAll(to, from parquet.Dictionary) {
	for i := range from.Len() {
		to.Insert([]int32{0}, []parquet.Value{from.Index(int32(i))})
	}
}
