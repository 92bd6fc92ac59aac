package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"infill/infill/jsonl"
	"infill/infill/table"
)

// OpenFilled reads a table as JSON lines for a reader of sentences. One that a batch of fillings
// has written, a row for each sentence or for each filling, becomes the lines of its records: line
// numbers, fillings with their scores, acceptance and errors, and the text before where words were
// masked and its column is called "text". Of other tables the column textField has the sentences,
// "text" if it is "". A row becomes an object with that member, and one of a table of variants
// has line, variant, original, filled, score and error too. A table without the column is a
// [*ColumnError]. Other trouble is a [table.ErrTable], here or in Read.
func OpenFilled(path, textField string) (io.ReadCloser, error) {
	if textField == "" {
		in, err := Open(path, nil, InputOptions{TextField: "filled"})
		var none *ColumnError
		switch {
		case err == nil && !in.hasColumn("variant"):
			return &filledTable{in: in}, nil
		case err == nil:
			if err := in.Close(); err != nil { // "filled" has lists of words there
				return nil, err
			}
		case !errors.As(err, &none):
			return nil, err
		}
	}
	in, err := Open(path, nil, InputOptions{TextField: textField})
	if err != nil {
		return nil, err
	}
	return &sentenceTable{in: in}, nil
}

func (in *Input) hasColumn(name string) bool {
	return slices.ContainsFunc(in.src.columns(), func(c table.Column) bool { return c.Name == name })
}

// A filledTable is the records of a table as a stream of lines.
type filledTable struct {
	in   *Input
	line bytes.Buffer  // of the record that is given out
	next *jsonl.Record // of the row after it, nil for none
	err  error         // after that
}

func (f *filledTable) Close() error { return f.in.Close() }

func (f *filledTable) Read(p []byte) (int, error) {
	for f.line.Len() == 0 {
		if f.err == nil && f.next == nil {
			f.next, f.err = f.row()
		}
		rec := f.next
		if rec == nil {
			return 0, f.err
		}
		// The rows after it that have further fillings of the same line.
		for f.next = nil; f.err == nil; {
			if f.next, f.err = f.row(); f.next == nil || f.next.Line != rec.Line {
				break
			}
			rec.Fillings = append(rec.Fillings, f.next.Fillings...)
		}
		if err := jsonl.Encode(&f.line, rec); err != nil {
			return 0, err
		}
	}
	return f.line.Read(p)
}

// row is the record that a row has of its own.
func (f *filledTable) row() (*jsonl.Record, error) {
	it, err := f.in.Next()
	if err != nil {
		return nil, err
	}
	if it.Err != nil {
		return nil, fmt.Errorf("%s: %w", f.in.Name, it.Err)
	}
	rec := &jsonl.Record{}
	own := jsonl.Filling{Text: it.Text, Tokens: []string{}, Spans: []jsonl.Span{}}
	var line *float64
	var blanked, text, failed, message string
	var all []filledCell
	for _, c := range it.Fields {
		switch c.Name {
		case "line":
			err = decodeCell(c.Value, &line)
		case "score":
			err = decodeCell(c.Value, &own.Score)
		case "score_per_token":
			err = decodeCell(c.Value, &own.ScorePerToken)
		case "scoring":
			_ = json.Unmarshal(c.Value, &rec.Scoring) // null of a row without scores
		case "acceptance":
			err = decodeCell(c.Value, &rec.Acceptance)
		case "fillings":
			err = decodeCell(c.Value, &all)
		case "blanked":
			err = json.Unmarshal(c.Value, &blanked)
		case "text":
			_ = json.Unmarshal(c.Value, &text) // a column of another type has no texts
		case "error":
			err = json.Unmarshal(c.Value, &failed)
		case "error_message":
			err = json.Unmarshal(c.Value, &message)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w: row %d, column %q: %w", f.in.Name, table.ErrTable, it.Line,
				c.Name, err)
		}
	}
	rec.Line = it.Line
	if line != nil {
		rec.Line = int(*line)
	}
	if blanked != "" {
		rec.Gold = text
	}
	switch {
	case failed != "":
		rec.Error = &jsonl.Failure{Code: failed, Message: message}
	case all != nil:
		for _, c := range all {
			one := own
			one.Text, one.Score, one.ScorePerToken = c.Filled, c.Score, c.ScorePerToken
			rec.Fillings = append(rec.Fillings, one)
		}
	default:
		rec.Fillings = []jsonl.Filling{own}
	}
	return rec, nil
}

// A filledCell is one of the fillings in a cell that has all of a sentence.
type filledCell struct {
	Filled        string   `json:"filled"`
	Score         *float64 `json:"score"`
	ScorePerToken *float64 `json:"score_per_token"`
}

// decodeCell decodes a cell that is JSON or, of CSV, a string that holds JSON. An empty cell
// changes nothing.
func decodeCell(value json.RawMessage, to any) error {
	if value[0] == '"' {
		var s string
		if err := json.Unmarshal(value, &s); err != nil || s == "" {
			return err
		}
		value = json.RawMessage(s)
	}
	return json.Unmarshal(value, to)
}
