package table

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"infill/infill/settings"
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

// NewWriter begins a table. CSV is as in RFC 4180 with lines that end in \n. comma stands between
// its cells, 0 for a comma. Cells of TSV stand in quotes if comma is a tab, and are else as they
// are. Rows of JSON are objects without their empty cells. Columns with the same name are an error,
// and so is a format of another kind.
func NewWriter(w io.Writer, f settings.Format, comma rune, columns []Column) (Writer, error) {
	seen := map[string]bool{}
	for _, c := range columns {
		if seen[c.Name] {
			return nil, fmt.Errorf("two columns are called %q", c.Name)
		}
		seen[c.Name] = true
	}
	switch f {
	case settings.FormatCSV:
		return newCSVWriter(w, cmp.Or(comma, ','), columns)
	case settings.FormatTSV:
		if comma != 0 {
			return newCSVWriter(w, comma, columns)
		}
		return newTSVWriter(w, columns)
	case settings.FormatParquet:
		return newParquetWriter(w, columns)
	case settings.FormatJSONL:
		return &lineWriter{bufio.NewWriter(w), nil, columns, nil}, nil
	case settings.FormatJSON:
		lines := NewArrayWriter(w)
		return &lineWriter{bufio.NewWriter(lines), lines, columns, nil}, nil
	}
	return nil, fmt.Errorf("the format %v is not written in rows", f)
}

// whole refuses a row that has not one cell for each column. The columns without a cell would have
// those of the row before.
func whole(row []any, columns []Column) error {
	if len(row) != len(columns) {
		return fmt.Errorf("a row of %d cells for %d columns", len(row), len(columns))
	}
	return nil
}

// ErrCell is a cell that the format of a table has no place for.
var ErrCell = errors.New("the cell has a tab or a line end, which .tsv holds in quotes only")

// textWriter writes rows of texts.
type textWriter struct {
	columns []Column
	cells   []string
	check   func(cell string) error // refuses what the format has no place for
	put     func(cells []string) error
	flush   func() error
}

func newCSVWriter(w io.Writer, comma rune, columns []Column) (*textWriter, error) {
	c := csv.NewWriter(w)
	c.Comma = comma
	return (&textWriter{
		columns: columns, check: func(string) error { return nil }, put: c.Write,
		flush: func() error { c.Flush(); return c.Error() },
	}).begin()
}

// newTSVWriter writes tab-separated values without quotes.
func newTSVWriter(w io.Writer, columns []Column) (*textWriter, error) {
	b := bufio.NewWriter(w)
	return (&textWriter{
		columns: columns, flush: b.Flush,
		check: func(cell string) error {
			if strings.ContainsAny(cell, "\t\n\r") {
				return ErrCell
			}
			return nil
		},
		put: func(cells []string) error {
			_, err := b.WriteString(strings.Join(cells, "\t") + "\n")
			return err
		},
	}).begin()
}

// begin writes the names of the columns.
func (t *textWriter) begin() (*textWriter, error) {
	for _, c := range t.columns {
		if err := t.check(c.Name); err != nil {
			return nil, fmt.Errorf("the name of column %q: %w", c.Name, err)
		}
		t.cells = append(t.cells, c.Name)
	}
	return t, t.put(t.cells)
}

func (t *textWriter) Write(row []any) error {
	if err := whole(row, t.columns); err != nil {
		return err
	}
	for i, cell := range row {
		var err error
		if t.cells[i], err = text(t.columns[i].Type, cell); err == nil {
			err = t.check(t.cells[i])
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", t.columns[i].Name, err)
		}
	}
	return t.put(t.cells)
}

func (t *textWriter) Flush() error { return t.flush() }

func (t *textWriter) Close() error { return t.flush() }

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
