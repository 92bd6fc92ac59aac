package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"infill/infill/batch"
	"infill/infill/jsonl"
	tables "infill/infill/table"
)

// A sentenceRow is what a batch writes for each filling (settings.PerFilling), for each variant
// (settings.PerVariant) or for a line that failed: a JSON line, or the row of a table, which may
// have all fillings of its sentence, too.
type sentenceRow struct {
	line                        int
	score, perToken, acceptance *float64
	scoring                     string
	failed                      jsonl.Failure

	sentence, gold, text string
	original             bool // the sentence is the text itself, and was not generated
	all                  []struct {
		Filled        string   `json:"filled"`
		Score         *float64 `json:"score"`
		ScorePerToken *float64 `json:"score_per_token"`
	}
}

// isRow reports whether a JSON line may be such a row. All others are not decoded twice.
func isRow(line string) bool {
	return strings.Contains(line, `"filled"`) || strings.Contains(line, `"variant"`) ||
		strings.Contains(line, `"error_message"`)
}

// rowOf makes a row of the members of a line, or of the cells of a table, and is nil for others. A
// variant stands in the field of the text.
func rowOf(fields []jsonl.Field, textField string, cells bool) (*sentenceRow, error) {
	var r sentenceRow
	var line, variant *float64
	var filled, text, sentence, original any
	var blanked string
	to := map[string]any{"line": &line, "score": &r.score, "score_per_token": &r.perToken,
		"acceptance": &r.acceptance, "scoring": &r.scoring, "error": &r.failed.Code,
		"error_message": &r.failed.Message, "blanked": &blanked, "variant": &variant,
		"original": &original, "filled": &filled, "text": &text, "fillings": &r.all}
	for _, f := range fields {
		if f.Name == "fillings" && !cells {
			return nil, nil // it is the record of a sentence
		}
		if f.Name == textField {
			_ = json.Unmarshal(f.Value, &sentence) // a value of JSON
		}
		if at := to[f.Name]; at != nil {
			if err := decodeCell(f.Value, at); err != nil {
				return nil, fmt.Errorf("column %q: %w", f.Name, err)
			}
		}
	}
	if line == nil {
		return nil, nil
	}
	r.line = int(*line)
	whole, isText := filled.(string)
	gold, isVariant := original.(string)
	isVariant = isVariant && variant != nil && (cells || !isText)
	switch {
	case r.failed.Code != "":
	case isVariant:
		var ok bool
		if r.sentence, ok = sentence.(string); !ok {
			return nil, nil
		}
		r.gold, r.original = gold, *variant == 0
		if isText { // a list in a cell of text
			_ = json.Unmarshal([]byte(whole), &filled)
		}
		if blanks, _ := filled.([]any); len(blanks) > 0 && r.score != nil {
			per := *r.score / float64(len(blanks)) // each takes one token
			r.perToken = &per
		}
	case isText:
		r.sentence = whole
		if r.text, _ = text.(string); blanked != "" { // the text was masked
			r.gold, r.text = r.text, blanked
		}
	default:
		return nil, nil
	}
	return &r, nil
}

// decodeCell decodes a cell that is JSON or, of CSV, a string that holds JSON. A text is taken as
// it is, and an empty cell changes nothing.
func decodeCell(value json.RawMessage, to any) error {
	switch to.(type) {
	case *string, *any:
		return json.Unmarshal(value, to)
	}
	if value[0] == '"' {
		var s string
		if err := json.Unmarshal(value, &s); err != nil || s == "" {
			return err
		}
		value = json.RawMessage(s)
	}
	return json.Unmarshal(value, to)
}

// sentence takes a row. Rows one after the other that have the same line are of one record.
func (rd *reader) sentence(r *sentenceRow) error {
	if err := rd.pairs.begin(&r.line); err != nil {
		return err
	}
	if r.original {
		return nil
	}
	rec := &jsonl.Record{Line: r.line, Text: r.text, Scoring: r.scoring}
	rec.Acceptance, rec.Gold = r.acceptance, r.gold
	rec.Fillings = []jsonl.Filling{{Text: r.sentence, Score: r.score, ScorePerToken: r.perToken}}
	if before := rd.row; before != nil && before.line == r.line && r.failed.Code == "" {
		rd.rank++
		return rd.generated(rec.Fillings[0], rd.rank, rec)
	}
	rd.row, rd.rank = r, 0
	switch {
	case r.failed.Code != "":
		rec.Error, rec.Fillings = &r.failed, nil
	case r.all != nil:
		rec.Fillings = nil
		for _, f := range r.all {
			rec.Fillings = append(rec.Fillings,
				jsonl.Filling{Text: f.Filled, Score: f.Score, ScorePerToken: f.ScorePerToken})
		}
	}
	return rd.record(rec)
}

// openTable opens a table of sentences, and names the column that has them. One that a batch of
// fillings has written has them in its column "filled", or all in "fillings". Of other tables, and
// of those of variants, the column textField has them, "text" if it is "". A table without the
// column is a [*batch.ColumnError].
func openTable(path, textField string) (*batch.Input, string, error) {
	if textField == "" {
		in, err := batch.Open(path, nil, batch.InputOptions{TextField: "filled"})
		var none *batch.ColumnError
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
	in, err := batch.Open(path, nil, batch.InputOptions{TextField: textField})
	return in, textField, err
}

// table reads the rows of a table.
func (rd *reader) table(path, textField string) error {
	in, textField, err := openTable(path, textField)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	rd.sum.Format = in.Format().String()
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
			return fmt.Errorf("%s: %w", rd.name, err)
		}
	}
}

// cells takes the row of a table: own says that a batch has written it, lines that it has a column
// for them.
func (rd *reader) cells(it *batch.Item, textField string, own, lines bool) error {
	sentence, err := json.Marshal(it.Text)
	if err != nil {
		return err
	}
	fields := []jsonl.Field{{Name: textField, Value: sentence}}
	var row *sentenceRow
	if own {
		if !lines {
			fields = append(fields, jsonl.Field{Name: "line", Value: []byte(strconv.Itoa(it.Line))})
		}
		row, err = rowOf(append(fields, it.Fields...), textField, true)
		if err != nil {
			return fmt.Errorf("%w: row %d, %w", tables.ErrTable, it.Line, err)
		}
	}
	switch {
	case it.Err != nil && (row == nil || row.failed.Code == ""):
		return it.Err
	case row != nil:
		return rd.sentence(row)
	}
	rec, err := plainRecord(fields[:1], textField, &jsonl.Record{}, nil)
	if err != nil {
		return fmt.Errorf("row %d: %w: %w", it.Line, ErrFormat, err)
	}
	return rd.alone(rec)
}
