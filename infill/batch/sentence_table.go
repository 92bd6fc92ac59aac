package batch

import (
	"bytes"
	"encoding/json"
	"fmt"

	"infill/infill/jsonl"
	"infill/infill/table"
)

// A sentenceTable is the rows of a table with a column of sentences as a stream of JSON lines.
type sentenceTable struct {
	in   *Input
	line bytes.Buffer // of the row that is given out
}

func (s *sentenceTable) Close() error { return s.in.Close() }

func (s *sentenceTable) Read(p []byte) (int, error) {
	if s.line.Len() == 0 {
		it, err := s.in.Next()
		if err != nil {
			return 0, err
		}
		row, err := s.row(&it)
		if err != nil {
			return 0, err
		}
		if err := json.NewEncoder(&s.line).Encode(row); err != nil {
			return 0, err
		}
	}
	return s.line.Read(p)
}

// row is what a reader of sentences needs of a row: its sentence and, of a row that has one of the
// variants of a text, what says so.
func (s *sentenceTable) row(it *Item) (map[string]any, error) {
	row := map[string]any{}
	var failed string
	fields := it.Fields
	if !s.in.hasColumn("variant") || !s.in.hasColumn("original") {
		fields = nil
	}
	for _, c := range fields {
		var to any
		switch c.Name {
		case "line", "variant", "score":
			to = new(*float64)
		case "filled":
			to = new([]string)
		case "error":
			to = &failed
		case "original", "scoring", "error_message":
			to = new(string)
		default:
			continue
		}
		if err := decodeInto(c, to); err != nil {
			return nil, fmt.Errorf("%s: %w: row %d, column %q: %w", s.in.Name, table.ErrTable, it.Line,
				c.Name, err)
		}
		row[c.Name] = to
	}
	if it.Err != nil && failed == "" {
		return nil, fmt.Errorf("%s: %w", s.in.Name, it.Err)
	}
	row[s.in.options.TextField] = it.Text
	return row, nil
}

// decodeInto decodes a cell into a string as it is, and into anything else as JSON.
func decodeInto(c jsonl.Field, to any) error {
	if _, ok := to.(*string); ok {
		return json.Unmarshal(c.Value, to)
	}
	return decodeCell(c.Value, to)
}
