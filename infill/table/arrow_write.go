package table

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// arrowRows is how many rows a record batch has at most. Their cells are in memory until then.
const arrowRows = 1000

// arrowWriter writes Apache Arrow's IPC format.
type arrowWriter struct {
	w interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	schema  *arrow.Schema
	columns []Column
	cells   []arrowColumn
	rows    int
}

// An arrowColumn gathers the cells of a batch.
type arrowColumn interface {
	add(cell any) error
	array() (arrow.Array, error)
}

func newArrowWriter(w io.Writer, f Format, columns []Column) (a *arrowWriter, err error) {
	defer guardArrow(&err)
	a = &arrowWriter{columns: columns}
	var fields []arrow.Field
	for _, c := range columns {
		field := arrow.Field{Name: c.Name, Nullable: true}
		if c.Type.Kind == Native {
			if !c.Type.Keeps(f) {
				return nil, fmt.Errorf("column %q: Arrow does not have its type", c.Name)
			}
			field = *c.Type.arrow
			field.Name = c.Name
			a.cells = append(a.cells, &storedColumn{of: field.Type})
		} else {
			field.Type = arrowType(c.Type)
			a.cells = append(a.cells, &madeColumn{c.Type, array.NewBuilder(memory.DefaultAllocator,
				field.Type)})
		}
		fields = append(fields, field)
	}
	a.schema = arrow.NewSchema(fields, nil)
	if f == FormatArrows {
		a.w = ipc.NewWriter(w, ipc.WithSchema(a.schema))
		return a, nil
	}
	a.w, err = ipc.NewFileWriter(w, ipc.WithSchema(a.schema))
	return a, err
}

// arrowType is the type of a column of the writer's own.
func arrowType(t Type) arrow.DataType {
	switch t.Kind {
	case Whole:
		return arrow.PrimitiveTypes.Int64
	case Number:
		return arrow.PrimitiveTypes.Float64
	case Bool:
		return arrow.FixedWidthTypes.Boolean
	case List:
		return arrow.ListOf(arrowType(*t.Elem))
	case Struct:
		var fields []arrow.Field
		for _, c := range t.Fields {
			fields = append(fields, arrow.Field{Name: c.Name, Type: arrowType(c.Type), Nullable: true})
		}
		return arrow.StructOf(fields...)
	}
	return arrow.BinaryTypes.String
}

func (a *arrowWriter) Write(row []any) (err error) {
	defer guardArrow(&err)
	if err := whole(row, a.columns); err != nil {
		return err
	}
	for i, cell := range row {
		if err := a.cells[i].add(cell); err != nil {
			return fmt.Errorf("column %q: %w", a.columns[i].Name, err)
		}
	}
	if a.rows++; a.rows < arrowRows {
		return nil
	}
	return a.batch()
}

// batch writes the rows that there are.
func (a *arrowWriter) batch() error {
	var arrays []arrow.Array
	for i, c := range a.cells {
		of, err := c.array()
		if err != nil {
			return fmt.Errorf("column %q: %w", a.columns[i].Name, err)
		}
		defer of.Release()
		arrays = append(arrays, of)
	}
	batch := array.NewRecordBatch(a.schema, arrays, int64(a.rows))
	defer batch.Release()
	a.rows = 0
	return a.w.Write(batch)
}

func (a *arrowWriter) Flush() error { return nil }

func (a *arrowWriter) Close() (err error) {
	defer guardArrow(&err)
	if a.rows > 0 {
		if err := a.batch(); err != nil {
			return err
		}
	}
	return a.w.Close()
}

// madeColumn has cells of the writer's own.
type madeColumn struct {
	of Type
	b  array.Builder
}

func (c *madeColumn) array() (arrow.Array, error) { return c.b.NewArray(), nil }

func (c *madeColumn) add(cell any) error { return appendCell(c.b, c.of, cell) }

// appendCell appends a cell, which may be empty.
func appendCell(to array.Builder, t Type, cell any) error {
	if cell == nil {
		to.AppendNull()
		return nil
	}
	parts, isParts := cell.([]any)
	switch to := to.(type) {
	case *array.ListBuilder:
		if !isParts {
			return mistyped(t, cell)
		}
		to.Append(true)
		for _, part := range parts {
			if err := appendCell(to.ValueBuilder(), *t.Elem, part); err != nil {
				return err
			}
		}
		return nil
	case *array.StructBuilder:
		if !isParts || len(parts) != len(t.Fields) {
			return mistyped(t, cell)
		}
		to.Append(true)
		for i, part := range parts {
			if err := appendCell(to.FieldBuilder(i), t.Fields[i].Type, part); err != nil {
				return err
			}
		}
		return nil
	}
	v, err := value(t, cell)
	switch v := v.(type) {
	case string:
		to.(*array.StringBuilder).Append(v)
	case json.RawMessage:
		to.(*array.StringBuilder).Append(string(v))
	case int64:
		to.(*array.Int64Builder).Append(v)
	case float64:
		to.(*array.Float64Builder).Append(v)
	case bool:
		to.(*array.BooleanBuilder).Append(v)
	}
	return err
}

// storedColumn has cells as they are stored elsewhere: pieces of arrays.
type storedColumn struct {
	of     arrow.DataType
	pieces []arrowPiece
}

type arrowPiece struct {
	of       arrow.Array // nil for a cell that is empty
	from, to int
}

func (c *storedColumn) add(cell any) error {
	if cell == nil {
		c.pieces = append(c.pieces, arrowPiece{to: 1})
		return nil
	}
	s, ok := cell.(arrowCell)
	if !ok {
		return fmt.Errorf("a cell of Arrow data is a %T", cell)
	}
	if n := len(c.pieces); n > 0 && c.pieces[n-1].of == s.of && c.pieces[n-1].to == s.row {
		c.pieces[n-1].to++
		return nil
	}
	s.of.Retain()
	c.pieces = append(c.pieces, arrowPiece{s.of, s.row, s.row + 1})
	return nil
}

func (c *storedColumn) array() (arrow.Array, error) {
	var parts []arrow.Array
	for _, p := range c.pieces {
		if p.of == nil {
			parts = append(parts, array.MakeArrayOfNull(memory.DefaultAllocator, c.of, 1))
			continue
		}
		parts = append(parts, array.NewSlice(p.of, int64(p.from), int64(p.to)))
		p.of.Release()
	}
	c.pieces = c.pieces[:0]
	defer func() {
		for _, p := range parts {
			p.Release()
		}
	}()
	return array.Concatenate(parts, memory.DefaultAllocator)
}

// joins reports whether pieces of arrays of a type can be put together. A file of Arrow has one
// dictionary for all batches, and pieces may have several.
func joins(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.DictionaryType, arrow.UnionType, *arrow.RunEndEncodedType, arrow.ExtensionType:
		return false
	case arrow.NestedType:
		return !slices.ContainsFunc(t.Fields(), func(f arrow.Field) bool { return !joins(f.Type) })
	}
	return true
}
