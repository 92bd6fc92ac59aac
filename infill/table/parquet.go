package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Parquet reads the rows of a Parquet file. At most a few pages of each column are in
// memory, however large a row group is.
type Parquet struct {
	file    *parquet.File
	columns []Column
	groups  []parquet.RowGroup
	rows    parquet.Rows // of the present row group, nil before the first
	ended   bool         // rows has no more
	left    int64        // rows that the head of the file says are left in the row group
	buffer  []parquet.Row
	ready   []parquet.Row // those of buffer that Next has not returned
	row     int
}

// rowsAtOnce is how many rows are taken from the file at once.
const rowsAtOnce = 64

// NewParquet reads the head of a file that has size bytes. The error is an [*Error].
func NewParquet(r io.ReaderAt, size int64) (p *Parquet, err error) {
	defer guard(0, &err)
	f, err := parquet.OpenFile(r, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	if err != nil {
		return nil, &Error{Reason: "it is not a whole Parquet file (" + err.Error() + ")", Err: err}
	}
	if err := checkCodecs(f); err != nil {
		return nil, err
	}
	p = &Parquet{file: f, groups: f.RowGroups(), buffer: make([]parquet.Row, rowsAtOnce)}
	root, _ := fieldOf("", f.Root(), 0, f.Metadata().Schema)
	for i, origin := range originsOf(f, len(root.kids)) {
		of := root.kids[i]
		p.columns = append(p.columns, Column{of.name, Type{Kind: Native, node: of, origin: origin}})
	}
	return p, nil
}

// checkCodecs refuses LZ4. The library doubles its buffer until LZ4 data fit, and
// damaged data never do.
func checkCodecs(f *parquet.File) error {
	for _, g := range f.Metadata().RowGroups {
		for _, c := range g.Columns {
			if c.MetaData.Codec == format.Lz4Raw {
				return &Error{Reason: "it is compressed with LZ4; write it with snappy or zstd"}
			}
		}
	}
	return nil
}

// Columns are the columns at the top of the schema, of kind [Native].
func (p *Parquet) Columns() []Column { return p.columns }

// Rows is the number of rows that the head of the file has.
func (p *Parquet) Rows() int64 { return p.file.NumRows() }

// Skip passes over rows, before the first call of Next. Pages before theirs are not read.
// The error is an [*Error].
func (p *Parquet) Skip(rows int) (err error) {
	defer guard(p.row+1, &err)
	if err = p.open(int64(rows)); err == io.EOF {
		return nil // Next says so
	}
	return err
}

// open begins the row group in which a row stands, counted from the present place. The error is
// io.EOF behind the last row. Row groups without rows are passed over, because the library looks
// for their pages at offset 0, where none are.
func (p *Parquet) open(row int64) error {
	for len(p.groups) > 0 {
		g := p.groups[0]
		n := g.NumRows()
		p.groups = p.groups[1:]
		if n >= 0 && n <= row {
			p.row, row = p.row+int(n), row-n
			continue
		}
		p.rows, p.left, p.row = g.Rows(), n-row, p.row+int(row)
		if row == 0 {
			return nil
		}
		if err := p.rows.SeekToRow(row); err != nil {
			return damaged(p.row+1, err)
		}
		return nil
	}
	return io.EOF
}

// Next returns the stored cells of the next row, one for each column, valid until the
// next call. The error is io.EOF after the last row, else an [*Error].
func (p *Parquet) Next() (cells []any, err error) {
	defer guard(p.row+1, &err)
	for len(p.ready) == 0 {
		if err := p.fill(); err != nil {
			return nil, err
		}
	}
	row := p.ready[0]
	p.ready = p.ready[1:]
	p.row++
	cells = make([]any, len(p.columns))
	at := 0
	for i, c := range p.columns {
		from, end := at, c.Type.node.at+c.Type.node.count
		for at < len(row) && row[at].Column() < end {
			at++
		}
		cells[i] = []parquet.Value(row[from:at:at])
	}
	return cells, nil
}

// fill reads rows into the buffer.
func (p *Parquet) fill() error {
	damaged := func(err error) error { return damaged(p.row+1, err) }
	if p.ended { // only now: rows in the buffer have memory of their pages
		rows := p.rows
		p.rows, p.ended = nil, false
		if err := rows.Close(); err != nil {
			return damaged(err)
		}
	}
	if p.rows == nil {
		if err := p.open(0); err != nil {
			return err
		}
	}
	n, err := p.rows.ReadRows(p.buffer)
	p.left -= int64(n)
	switch {
	case p.left < 0 || errors.Is(err, io.EOF) && p.left > 0:
		return damaged(errors.New("it has another number of rows than its head says"))
	case errors.Is(err, io.EOF) || err == nil && n == 0:
		p.ended = true
	case err != nil:
		return damaged(err)
	}
	p.ready = p.buffer[:n]
	return nil
}

// JSON is a cell of column i, as Next returned it, as a JSON value.
func (p *Parquet) JSON(i int, cell any) (v json.RawMessage, err error) {
	defer guard(p.row, &err)
	values, ok := cell.([]parquet.Value)
	if !ok {
		return nil, fmt.Errorf("a cell of a Parquet file is a %T", cell)
	}
	n := p.columns[i].Type.node
	a := &assembler{first: n.at, leaves: make([][]parquet.Value, n.count)}
	for _, v := range values {
		leaf := v.Column() - n.at
		a.leaves[leaf] = append(a.leaves[leaf], v)
	}
	b, err := a.value(nil, n, 0, 0)
	for _, rest := range a.leaves {
		if err == nil && len(rest) > 0 {
			err = errors.New("a row has too many values")
		}
	}
	if err != nil {
		return nil, &Error{Row: p.row, Err: err, Reason: fmt.Sprintf("column %q of the Parquet file is "+
			"damaged (%v)", p.columns[i].Name, err)}
	}
	return b, nil
}

// Close frees what reading holds.
func (p *Parquet) Close() (err error) {
	defer guard(p.row, &err)
	if p.rows == nil {
		return nil
	}
	return p.rows.Close()
}
