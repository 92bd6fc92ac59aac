package read

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"infill/infill/jsonl"
)

// A row is what a batch writes for each filling (settings.PerFilling), for each variant
// (output.Variants) or for a line that failed: a JSON line, or the row of a table, which may
// have all fillings of its sentence, too.
type row struct {
	jsonl.Filled
	original bool // the sentence is the text itself, and was not generated
}

// mayBeRow reports whether the members of a JSON line may be those of a row. The record of a
// sentence has fillings.
func mayBeRow(fields []jsonl.Field) bool {
	has := func(names ...string) bool {
		return slices.ContainsFunc(fields, func(f jsonl.Field) bool {
			return slices.Contains(names, f.Name)
		})
	}
	return !has("fillings") && has("filled", "variant", "error_message")
}

// rowOf makes a row of the members of a line, or of the cells of a table, and is nil for others. A
// variant stands in the field of the text.
func rowOf(fields []jsonl.Field, textField string, cells bool) (*row, error) {
	var r row
	var f jsonl.Filling
	var e jsonl.Failure
	var line, variant *float64
	var filled, text, sentence, original any
	var blanked string
	var all []struct {
		Filled        string   `json:"filled"`
		Score         *float64 `json:"score"`
		ScorePerToken *float64 `json:"score_per_token"`
	}
	to := map[string]any{"line": &line, "score": &f.Score, "score_per_token": &f.ScorePerToken,
		"scoring": &r.Scoring, "error": &e.Code, "error_message": &e.Message, "blanked": &blanked,
		"variant": &variant, "original": &original, "filled": &filled, "text": &text, "fillings": &all,
		"filled_spans": &f.Spans}
	for _, f := range fields {
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
	r.Line = int(*line)
	whole, isText := filled.(string)
	gold, isVariant := original.(string)
	isVariant = isVariant && variant != nil && (cells || !isText)
	switch {
	case e.Code != "":
		r.Error = &e
		return &r, nil
	case isVariant:
		var ok bool
		if f.Text, ok = sentence.(string); !ok {
			return nil, nil
		}
		r.Gold, r.original = gold, *variant == 0
		if isText { // a list in a cell of text
			_ = json.Unmarshal([]byte(whole), &filled)
		}
		if blanks, _ := filled.([]any); len(blanks) > 0 && f.Score != nil {
			per := *f.Score / float64(len(blanks)) // each takes one token
			f.ScorePerToken = &per
		}
	case isText:
		f.Text = whole
		if r.Text, _ = text.(string); blanked != "" { // the text was masked
			r.Gold, r.Text = r.Text, blanked
		}
	default:
		return nil, nil
	}
	r.Fillings = []jsonl.Filling{f}
	if all != nil {
		r.Fillings = nil
	}
	for _, f := range all {
		r.Fillings = append(r.Fillings,
			jsonl.Filling{Text: f.Filled, Score: f.Score, ScorePerToken: f.ScorePerToken})
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

// recordOf makes a record of the members of a line. A text alone can come from any program and have
// members of any type beside it. It becomes the one filling of its record.
func recordOf(n int, fields []jsonl.Field, textField string) (*jsonl.Filled, error) {
	rec, err := jsonl.Decoder{}.RecordOf(n, fields)
	made := slices.ContainsFunc(fields, func(f jsonl.Field) bool {
		return (f.Name == "fillings" || f.Name == "error") && string(f.Value) != "null"
	})
	if err != nil && made {
		return nil, err
	}
	out, ok := rec.(*jsonl.Filled)
	if !ok { // a text, or a record without fillings
		out = &jsonl.Filled{}
	}
	if err == nil && !ok {
		out.Item, out.Origin = *rec.Of(), *rec.By()
	}
	if made {
		return out, nil
	}
	return plainRecord(fields, textField, out)
}

// plainRecord makes the text among the fields the one filling of the record.
func plainRecord(fields []jsonl.Field, textField string, rec *jsonl.Filled) (*jsonl.Filled, error) {
	var text jsonl.Field
	for _, f := range fields {
		switch {
		case string(f.Value) == "null":
		case f.Name == textField:
			text = f
		case f.Name == "gold" && json.Unmarshal(f.Value, &rec.Gold) != nil:
			return nil, errors.New("gold is not a string")
		}
	}
	rec.Fillings = make([]jsonl.Filling, 1)
	rec.Text = "" // whatever it is there, it is not known to be what the sentence was made from
	switch {
	case text.Value == nil:
		return nil, noText(textField, fields)
	case json.Unmarshal(text.Value, &rec.Fillings[0].Text) != nil:
		return nil, fmt.Errorf("%s is not a string", textField)
	case strings.Contains(rec.Fillings[0].Text, "[MASK"):
		return nil, errors.New("the text has blanks and no fillings; it looks like a text to be filled")
	}
	return rec, nil
}

// noText is the error of an object that has neither fillings nor the field of the text.
func noText(textField string, fields []jsonl.Field) error {
	var names []string
	for _, f := range fields {
		names = append(names, fmt.Sprintf("%q", f.Name))
	}
	has := "it has no fields"
	if len(names) > 0 {
		has = "its fields are " + strings.Join(names[:min(len(names), 12)], ", ")
	}
	return fmt.Errorf("%w: a JSON object without fillings and without the field %q; %s; "+
		"name the one with the sentences", jsonl.ErrNoText, textField, has)
}

// detect finds the format from the first line that is not blank.
func detect(line string) (string, error) {
	s := strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(s, "{"):
		rest := strings.TrimSpace(s[1:])
		if json.Valid([]byte(s)) {
			return "jsonl", nil
		}
		if rest == "" || rest[0] == '"' {
			return "", fmt.Errorf("%w: it looks like JSON spread over several lines; "+
				"put one record on each line", ErrFormat)
		}
	case strings.HasPrefix(s, "["):
		rest := strings.TrimSpace(s[1:])
		if rest == "" || rest[0] == '{' || rest[0] == '"' || rest[0] == '[' && json.Valid([]byte(s)) {
			return "", fmt.Errorf("%w: it looks like a JSON array; "+
				"put one record or one sentence on each line", ErrFormat)
		}
	}
	return "lines", nil
}
