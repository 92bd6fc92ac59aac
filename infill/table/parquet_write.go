package table

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"
)

// rowGroupBytes is about how many bytes of values a row group has. It bounds the memory of writing.
const rowGroupBytes = 16 << 20

// parquetWriter writes a Parquet file.
type parquetWriter struct {
	w       *parquet.GenericWriter[any]
	columns []Column
	first   []int
	bytes   int // of the values in the present row group
	most    int // of a row group
}

func newParquetWriter(w io.Writer, columns []Column) (p *parquetWriter, err error) {
	defer guard(0, &err)
	root := &field{Node: parquet.Group{}}
	p = &parquetWriter{columns: columns, most: rowGroupBytes}
	leaf := 0
	for _, c := range columns {
		n := nodeOf(c.Type)
		of := fieldOf(c.Name, n)
		if root.fields = append(root.fields, of); c.Type.Categories() {
			of.encode(&parquet.RLEDictionary) // Arrow reads categories of no other encoding
		}
		p.first = append(p.first, leaf)
		leaf += leafCount(n)
	}
	if leaf > parquet.MaxColumnIndex {
		return nil, fmt.Errorf("%d columns, a Parquet file has at most %d", leaf, parquet.MaxColumnIndex)
	}
	options := []parquet.WriterOption{parquet.NewSchema("schema", root),
		parquet.Compression(&parquet.Snappy), parquet.CreatedBy("infill", "1", "")}
	for _, kv := range arrowSchema(columns) {
		options = append(options, parquet.KeyValueMetadata(kv.Key, kv.Value))
	}
	p.w = parquet.NewGenericWriter[any](w, options...)
	return p, nil
}

// A field is a node with a name. Unlike a parquet.Group it keeps the order of its
// fields, and it leaves compression and, where encoding is nil, encoding to the writer.
type field struct {
	parquet.Node
	name     string
	fields   []parquet.Field
	encoding encoding.Encoding
}

// encode has an encoding for all leaves of a field.
func (f *field) encode(e encoding.Encoding) {
	f.encoding = e
	for _, kid := range f.fields {
		kid.(*field).encode(e) // fieldOf makes no others
	}
}

func fieldOf(name string, n parquet.Node) *field {
	f := &field{Node: n, name: name}
	if ordered, ok := n.(*field); ok {
		f.Node, f.fields = ordered.Node, ordered.fields
		return f
	}
	if !n.Leaf() {
		for _, inner := range n.Fields() {
			f.fields = append(f.fields, fieldOf(inner.Name(), inner))
		}
	}
	return f
}

func (f *field) Name() string                          { return f.name }
func (f *field) Fields() []parquet.Field               { return f.fields }
func (f *field) Encoding() encoding.Encoding           { return f.encoding }
func (f *field) Compression() compress.Codec           { return nil }
func (f *field) Value(reflect.Value) (v reflect.Value) { return v }

// GoType is never used to write: rows are given as values.
func (f *field) GoType() reflect.Type {
	if _, own := f.Node.(parquet.Group); own {
		return reflect.TypeFor[map[string]any]()
	}
	return f.Node.GoType()
}

// nodeOf is the node of a type. Every cell may be empty.
func nodeOf(t Type) parquet.Node {
	if t.Kind == Native {
		return t.node
	}
	return parquet.Optional(filledNode(t))
}

func filledNode(t Type) parquet.Node {
	switch t.Kind {
	case Whole:
		return parquet.Int(64)
	case Number:
		return parquet.Leaf(parquet.DoubleType)
	case Bool:
		return parquet.Leaf(parquet.BooleanType)
	case JSON:
		return parquet.JSON()
	case List:
		return parquet.List(filledNode(*t.Elem))
	case Struct:
		group := &field{Node: parquet.Group{}}
		for _, c := range t.Fields {
			group.fields = append(group.fields, fieldOf(c.Name, nodeOf(c.Type)))
		}
		return group
	}
	return parquet.String()
}

func (p *parquetWriter) Write(cells []any) (err error) {
	defer guard(0, &err)
	if err := whole(cells, p.columns); err != nil {
		return err
	}
	var row parquet.Row
	for i, cell := range cells {
		c := p.columns[i]
		if values, ok := cell.([]parquet.Value); ok && c.Type.Kind == Native {
			row = append(row, values...)
			continue
		}
		s := shredder{row: make([]parquet.Row, leafCount(nodeOf(c.Type))), first: p.first[i]}
		if err := s.optional(c.Type, cell, 0, 0, 0, 0); err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
		for _, leaf := range s.row {
			row = append(row, leaf...)
		}
	}
	for _, v := range row {
		p.bytes += 16
		if v.Kind() == parquet.ByteArray || v.Kind() == parquet.FixedLenByteArray {
			p.bytes += len(v.ByteArray())
		}
	}
	if _, err := p.w.WriteRows([]parquet.Row{row}); err != nil {
		return err
	}
	if p.bytes < p.most {
		return nil
	}
	p.bytes = 0
	return p.w.Flush()
}

func (p *parquetWriter) Flush() error { return nil }

func (p *parquetWriter) Close() (err error) {
	defer guard(0, &err)
	return p.w.Close()
}

// shredder takes a cell apart into values of the leaves of a column, with levels. See assembler.
type shredder struct {
	row   []parquet.Row // values of each leaf
	first int           // index of the first leaf
}

func (s *shredder) put(leaf int, v parquet.Value, rep, def int) {
	s.row[leaf] = append(s.row[leaf], v.Level(rep, def, s.first+leaf))
}

// optional takes a cell that may be empty. rep is the repetition level of its first
// value, depth that of the type, def the definition level above it.
func (s *shredder) optional(t Type, cell any, leaf, rep, depth, def int) error {
	if cell == nil {
		s.empty(t, leaf, rep, def)
		return nil
	}
	return s.filled(t, cell, leaf, rep, depth, def+1)
}

// empty puts a null into every leaf of a type.
func (s *shredder) empty(t Type, leaf, rep, def int) {
	for i := range leafCount(filledNode(t)) {
		s.put(leaf+i, parquet.NullValue(), rep, def)
	}
}

func (s *shredder) filled(t Type, cell any, leaf, rep, depth, def int) error {
	if raw, is := cell.(json.RawMessage); is && (t.Kind == List || t.Kind == Struct) {
		var err error
		if cell, err = partsIn(t, raw); err != nil {
			return err
		}
	}
	switch t.Kind {
	case List:
		parts, ok := cell.([]any)
		if !ok {
			return mistyped(t, cell)
		}
		if len(parts) == 0 {
			s.empty(*t.Elem, leaf, rep, def)
			return nil
		}
		for i, part := range parts {
			if i > 0 {
				rep = depth + 1
			}
			if err := s.filled(*t.Elem, part, leaf, rep, depth+1, def+1); err != nil {
				return err
			}
		}
		return nil
	case Struct:
		parts, ok := cell.([]any)
		if !ok || len(parts) != len(t.Fields) {
			return mistyped(t, cell)
		}
		for i, part := range parts {
			of := t.Fields[i].Type
			if err := s.optional(of, part, leaf, rep, depth, def); err != nil {
				return err
			}
			leaf += leafCount(filledNode(of))
		}
		return nil
	}
	v, err := stored(t, cell)
	if err != nil {
		return err
	}
	s.put(leaf, v, rep, def)
	return nil
}

// partsIn are the parts of a cell in JSON: elements of a list, or members of a structure.
func partsIn(t Type, raw json.RawMessage) (parts []any, err error) {
	if t.Kind == List {
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, mistyped(t, raw)
		}
		for _, v := range list {
			parts = append(parts, v)
		}
		return parts, nil
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, mistyped(t, raw)
	}
	for _, f := range t.Fields {
		v := any(members[f.Name])
		if members[f.Name] == nil || string(members[f.Name]) == "null" {
			v = nil
		}
		parts = append(parts, v)
	}
	return parts, nil
}

// stored is a cell that is not empty as a value of its type. JSON becomes the type that it stands
// for.
func stored(t Type, cell any) (parquet.Value, error) {
	raw, isJSON := cell.(json.RawMessage)
	switch t.Kind {
	case Text:
		if s, err := text(t, cell); err == nil {
			return parquet.ByteArrayValue([]byte(s)), nil
		}
	case JSON:
		if isJSON {
			return parquet.ByteArrayValue(raw), nil
		}
	case Whole:
		if n, err := strconv.ParseInt(string(raw), 10, 64); isJSON && err == nil {
			return parquet.Int64Value(n), nil
		}
		if n, ok := cell.(int64); ok {
			return parquet.Int64Value(n), nil
		}
	case Number:
		if x, ok := float(raw); ok {
			return parquet.DoubleValue(x), nil
		}
		if x, ok := cell.(float64); ok && !math.IsNaN(x) && !math.IsInf(x, 0) {
			return parquet.DoubleValue(x), nil
		}
	case Bool:
		if b, err := strconv.ParseBool(string(raw)); isJSON && err == nil {
			return parquet.BooleanValue(b), nil
		}
		if b, ok := cell.(bool); ok {
			return parquet.BooleanValue(b), nil
		}
	}
	return parquet.Value{}, mistyped(t, cell)
}
