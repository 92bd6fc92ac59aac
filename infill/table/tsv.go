package table

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// ErrCell is a cell that the format of a table has no place for.
var ErrCell = fmt.Errorf("the cell has a tab or a line end, which .tsv holds in quotes only")

// tsvWriter writes tab-separated values without quotes.
type tsvWriter struct {
	w       *bufio.Writer
	columns []Column
	line    []byte
}

func newTSVWriter(w io.Writer, columns []Column) (*tsvWriter, error) {
	t := &tsvWriter{bufio.NewWriter(w), columns, nil}
	for i, c := range columns {
		if err := t.add(i, c.Name); err != nil {
			return nil, fmt.Errorf("the name of column %q: %w", c.Name, err)
		}
	}
	return t, t.end()
}

// add puts a cell into the line.
func (t *tsvWriter) add(i int, cell string) error {
	if strings.ContainsAny(cell, "\t\n\r") {
		return ErrCell
	}
	if i > 0 {
		t.line = append(t.line, '\t')
	}
	t.line = append(t.line, cell...)
	return nil
}

// end writes the line.
func (t *tsvWriter) end() error {
	_, err := t.w.Write(append(t.line, '\n'))
	t.line = t.line[:0]
	return err
}

func (t *tsvWriter) Write(row []any) error {
	if err := whole(row, t.columns); err != nil {
		return err
	}
	t.line = t.line[:0]
	for i, cell := range row {
		s, err := text(t.columns[i].Type, cell)
		if err == nil {
			err = t.add(i, s)
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", t.columns[i].Name, err)
		}
	}
	return t.end()
}

func (t *tsvWriter) Flush() error { return t.w.Flush() }

func (t *tsvWriter) Close() error { return t.Flush() }
