package table

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
)

// A Writer writes rows.
type Writer interface {
	// Write writes the cells of a row, one for each column. Another number of them is an error.
	Write(row []any) error
	// Flush writes what is buffered. Parquet keeps it to the end of its row group.
	Flush() error
	// Close completes the table. What it was written to stays open.
	Close() error
}

// NewWriter begins a table. Columns with the same name are an error, and so is an unknown format.
func NewWriter(w io.Writer, f Format, columns []Column) (Writer, error) {
	seen := map[string]bool{}
	for _, c := range columns {
		if seen[c.Name] {
			return nil, fmt.Errorf("two columns are called %q", c.Name)
		}
		seen[c.Name] = true
	}
	switch f {
	case FormatTSV:
		return newTSVWriter(w, columns)
	case FormatCSV, FormatQuoted:
		return newCSVWriter(w, f, columns)
	case FormatParquet:
		return newParquetWriter(w, columns)
	case FormatJSONL:
		return &lineWriter{bufio.NewWriter(w), nil, columns, nil}, nil
	case FormatJSON:
		lines := NewArrayWriter(w)
		return &lineWriter{bufio.NewWriter(lines), lines, columns, nil}, nil
	}
	return nil, fmt.Errorf("format %d of a table, want FormatCSV to FormatJSON", f)
}

// whole refuses a row that has not one cell for each column. The columns without a cell would have
// those of the row before.
func whole(row []any, columns []Column) error {
	if len(row) != len(columns) {
		return fmt.Errorf("a row of %d cells for %d columns", len(row), len(columns))
	}
	return nil
}

// csvWriter writes CSV and quoted TSV.
type csvWriter struct {
	w       *csv.Writer
	columns []Column
	cells   []string
}

func newCSVWriter(w io.Writer, f Format, columns []Column) (*csvWriter, error) {
	c := &csvWriter{csv.NewWriter(w), columns, make([]string, len(columns))}
	if f == FormatQuoted {
		c.w.Comma = '\t'
	}
	for i, col := range columns {
		c.cells[i] = col.Name
	}
	return c, c.w.Write(c.cells)
}

func (c *csvWriter) Write(row []any) error {
	if err := whole(row, c.columns); err != nil {
		return err
	}
	for i, cell := range row {
		var err error
		if c.cells[i], err = text(c.columns[i].Type, cell); err != nil {
			return fmt.Errorf("column %q: %w", c.columns[i].Name, err)
		}
	}
	return c.w.Write(c.cells)
}

func (c *csvWriter) Flush() error {
	c.w.Flush()
	return c.w.Error()
}

func (c *csvWriter) Close() error { return c.Flush() }

// lineWriter writes JSON lines.
type lineWriter struct {
	w       *bufio.Writer
	array   io.Closer // that makes an array of them, nil for none
	columns []Column
	line    []byte
}

func (l *lineWriter) Write(row []any) (err error) {
	if err := whole(row, l.columns); err != nil {
		return err
	}
	l.line = append(l.line[:0], '{')
	for i, cell := range row {
		if cell == nil {
			continue
		}
		if len(l.line) > 1 {
			l.line = append(l.line, ',')
		}
		name, err := marshal(l.columns[i].Name)
		if err != nil {
			return err
		}
		l.line = append(append(l.line, name...), ':')
		if l.line, err = appendJSON(l.line, l.columns[i].Type, cell); err != nil {
			return fmt.Errorf("column %q: %w", l.columns[i].Name, err)
		}
	}
	l.line = append(l.line, '}', '\n')
	_, err = l.w.Write(l.line)
	return err
}

func (l *lineWriter) Flush() error { return l.w.Flush() }

func (l *lineWriter) Close() error {
	err := l.w.Flush()
	if l.array == nil || err != nil {
		return err
	}
	return l.array.Close()
}
