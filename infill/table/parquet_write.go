package table

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

// rowGroupBytes is about how many bytes of values a row group has. It bounds the memory of writing.
const rowGroupBytes = 16 << 20

// parquetWriter writes a Parquet file.
type parquetWriter struct {
	w       *parquet.GenericWriter[any]
	columns []Column
	fields  []*field // of the columns
	bytes   int      // of the values in the present row group
	most    int      // of a row group
}

func newParquetWriter(w io.Writer, columns []Column) (p *parquetWriter, err error) {
	defer guard(0, &err)
	root := &field{Node: parquet.Group{}}
	for i, c := range columns {
		root.add(c.Name, nodeOf(c.Type), nil)
		if o := c.Type.origin; o != nil && o.types != nil {
			o.keep(root.kids[i], c.Type.node, o.types.categories(o.field), c.Type.node.at)
		}
	}
	p = &parquetWriter{columns: columns, fields: root.kids, most: rowGroupBytes}
	if n := root.count; n > parquet.MaxColumnIndex {
		return nil, fmt.Errorf("%d columns, a Parquet file has at most %d", n, parquet.MaxColumnIndex)
	}
	options := []parquet.WriterOption{parquet.NewSchema("schema", root),
		parquet.Compression(&parquet.Snappy), parquet.CreatedBy("infill", "1", "")}
	for _, kv := range arrowSchema(columns) {
		options = append(options, parquet.KeyValueMetadata(kv.Key, kv.Value))
	}
	p.w = parquet.NewGenericWriter[any](w, options...)
	return p, nil
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
			group.add(c.Name, nodeOf(c.Type), nil)
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
		c, f := p.columns[i], p.fields[i]
		if values, ok := cell.([]parquet.Value); ok && c.Type.Kind == Native {
			row = append(row, values...)
			continue
		}
		s := shredder{row: make([]parquet.Row, f.count), first: f.at}
		if err := s.optional(c.Type, f, cell, 0, 0, 0); err != nil {
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
	s.row[leaf-s.first] = append(s.row[leaf-s.first], v.Level(rep, def, leaf))
}

// optional takes a cell of a field that may be empty. rep is the repetition level of its first
// value, depth that of the type, def the definition level above it.
func (s *shredder) optional(t Type, f *field, cell any, rep, depth, def int) error {
	if cell == nil {
		s.empty(f, rep, def)
		return nil
	}
	return s.filled(t, f, cell, rep, depth, def+1)
}

// empty puts a null into every leaf of a field.
func (s *shredder) empty(f *field, rep, def int) {
	for i := range f.count {
		s.put(f.at+i, parquet.NullValue(), rep, def)
	}
}

func (s *shredder) filled(t Type, f *field, cell any, rep, depth, def int) error {
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
			s.empty(f, rep, def)
			return nil
		}
		for i, part := range parts {
			if i > 0 {
				rep = depth + 1
			}
			if err := s.filled(*t.Elem, f.kids[0].kids[0], part, rep, depth+1, def+1); err != nil {
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
			if err := s.optional(t.Fields[i].Type, f.kids[i], part, rep, depth, def); err != nil {
				return err
			}
		}
		return nil
	}
	v, err := stored(t, cell)
	if err != nil {
		return err
	}
	s.put(f.at, v, rep, def)
	return nil
}

// partsIn are the parts of a cell in JSON: elements of a list, or members of a structure.
func partsIn(t Type, raw json.RawMessage) (parts []any, err error) {
	if t.Kind == List {
		var list []json.RawMessage
		err = json.Unmarshal(raw, &list)
		for _, v := range list {
			parts = append(parts, v)
		}
	} else {
		members := map[string]json.RawMessage{}
		err = json.Unmarshal(raw, &members)
		for _, f := range t.Fields {
			if v := members[f.Name]; v != nil && string(v) != "null" {
				parts = append(parts, v)
			} else {
				parts = append(parts, nil)
			}
		}
	}
	if err != nil {
		return nil, mistyped(t, raw)
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
