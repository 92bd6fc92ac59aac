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
		return newLineWriter(w, func() error { return nil }, columns)
	case settings.FormatJSON:
		lines := NewArrayWriter(w)
		return newLineWriter(lines, lines.Close, columns)
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

// textWriter writes rows of texts, each on a line.
type textWriter struct {
	columns []Column
	cells   []string
	cell    func(t Type, cell any) (string, error) // its text, or ErrCell
	put     func(cells []string) error
	flush   func() error
	end     func() error // flush, and what stands behind the last row
}

func newCSVWriter(w io.Writer, comma rune, columns []Column) (*textWriter, error) {
	c := csv.NewWriter(w)
	c.Comma = comma
	flush := func() error { c.Flush(); return c.Error() }
	return (&textWriter{columns: columns, cell: text, put: c.Write, flush: flush, end: flush}).begin()
}

// newTSVWriter writes tab-separated values without quotes.
func newTSVWriter(w io.Writer, columns []Column) (*textWriter, error) {
	b := bufio.NewWriter(w)
	return (&textWriter{columns: columns, flush: b.Flush, end: b.Flush,
		cell: func(t Type, cell any) (string, error) {
			s, err := text(t, cell)
			if err == nil && strings.ContainsAny(s, "\t\n\r") {
				err = ErrCell
			}
			return s, err
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
		name, err := t.cell(Type{}, c.Name)
		if err != nil {
			return nil, fmt.Errorf("the name of column %q: %w", c.Name, err)
		}
		t.cells = append(t.cells, name)
	}
	return t, t.put(t.cells)
}

// newLineWriter writes JSON lines without empty cells. end is called behind the last one.
func newLineWriter(w io.Writer, end func() error, columns []Column) (*textWriter, error) {
	b := bufio.NewWriter(w)
	names := make([]string, len(columns))
	for i, c := range columns {
		name, err := marshal(c.Name)
		if err != nil {
			return nil, err
		}
		names[i] = string(name) + ":"
	}
	return &textWriter{columns: columns, cells: make([]string, len(columns)), flush: b.Flush,
		cell: func(t Type, cell any) (string, error) {
			if cell == nil {
				return "", nil
			}
			out, err := appendJSON(nil, t, cell)
			return string(out), err
		},
		put: func(cells []string) error {
			var members []string
			for i, cell := range cells {
				if cell != "" {
					members = append(members, names[i]+cell)
				}
			}
			_, err := b.WriteString("{" + strings.Join(members, ",") + "}\n")
			return err
		},
		end: func() error {
			if err := b.Flush(); err != nil {
				return err
			}
			return end()
		},
	}, nil
}

func (t *textWriter) Write(row []any) error {
	if err := whole(row, t.columns); err != nil {
		return err
	}
	for i, cell := range row {
		var err error
		if t.cells[i], err = t.cell(t.columns[i].Type, cell); err != nil {
			return fmt.Errorf("column %q: %w", t.columns[i].Name, err)
		}
	}
	return t.put(t.cells)
}

func (t *textWriter) Flush() error { return t.flush() }

func (t *textWriter) Close() error { return t.end() }
