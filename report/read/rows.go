package read

import (
	"encoding/json"
	"fmt"
	"strings"

	"infill/infill/jsonl"
)

// A sentenceRow is what a batch writes for each filling (settings.PerFilling), for each variant
// (settings.PerVariant) or for a line that failed: a JSON line, or the row of a table, which may
// have all fillings of its sentence, too.
type sentenceRow struct {
	line            int
	score, perToken *float64
	scoring         string
	failed          jsonl.Failure

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
		"scoring": &r.scoring, "error": &r.failed.Code,
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
