package read

import (
	"encoding/json"
	"fmt"

	"infill/infill/jsonl"
)

// A row is what a batch writes for each filling (settings.PerFilling), for each variant
// (output.Variants) or for a line that failed: a JSON line, or the row of a table, which may
// have all fillings of its sentence, too.
type row struct {
	jsonl.Filled
	original bool // the sentence is the text itself, and was not generated
}

// mayBeRow reports whether the members of a JSON line may be those of a row.
func mayBeRow(fields []jsonl.Field) bool {
	may := false
	for _, f := range fields {
		switch f.Name {
		case "fillings": // it is the record of a sentence
			return false
		case "filled", "variant", "error_message":
			may = true
		}
	}
	return may
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
		"variant": &variant, "original": &original, "filled": &filled, "text": &text, "fillings": &all}
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
