package read

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"infill/infill/batch/input"
	"infill/infill/jsonl"
	tables "infill/infill/table"
)

// openTable opens a table of sentences, and names the column that has them. One that a batch of
// fillings has written has them in its column "filled", or all in "fillings". Of other tables, and
// of those of variants, the column textField has them, "text" if it is "". A table without the
// column is a [*input.ColumnError].
func openTable(path, textField string) (*input.Reader, string, error) {
	if textField == "" {
		in, err := input.Open(path, nil, input.Options{TextField: "filled"})
		var none *input.ColumnError
		switch {
		case err == nil && !in.HasColumn("variant"):
			return in, "filled", nil
		case err == nil:
			if err := in.Close(); err != nil { // "filled" has lists of words there
				return nil, "", err
			}
		case !errors.As(err, &none):
			return nil, "", err
		}
	}
	textField = cmp.Or(textField, "text")
	in, err := input.Open(path, nil, input.Options{TextField: textField})
	return in, textField, err
}

// table reads the rows of a table.
func (rd *reader) table(path, textField string) error {
	in, textField, err := openTable(path, textField)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	rd.file.Format = in.Format().String()
	own := textField == "filled" || in.HasColumn("variant") && in.HasColumn("original")
	lines := in.HasColumn("line")
	for {
		it, err := in.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if err := rd.cells(&it, textField, own, lines); err != nil {
			return fmt.Errorf("%s: %w", rd.file.Name, err)
		}
	}
}

// cells takes the row of a table: own says that a batch has written it, lines that it has a column
// for them.
func (rd *reader) cells(it *input.Item, textField string, own, lines bool) error {
	sentence, err := json.Marshal(it.Text)
	if err != nil {
		return err
	}
	fields := []jsonl.Field{{Name: textField, Value: sentence}}
	_, rd.label = jsonl.Label(it.Fields, jsonl.LabelNames()...)
	var r *row
	if own {
		if !lines {
			fields = append(fields, jsonl.Field{Name: "line", Value: []byte(strconv.Itoa(it.Line))})
		}
		r, err = rowOf(append(fields, it.Fields...), textField, true)
		if err != nil {
			return fmt.Errorf("%w: row %d, %w", tables.ErrTable, it.Line, err)
		}
	}
	switch {
	case it.Err != nil && (r == nil || r.Error == nil):
		return it.Err
	case r != nil:
		return rd.take(&r.Filled, r)
	}
	rec, err := plainRecord(fields[:1], textField, &jsonl.Filled{})
	if err != nil {
		return fmt.Errorf("row %d: %w: %w", it.Line, ErrFormat, err)
	}
	return rd.take(rec, nil)
}
