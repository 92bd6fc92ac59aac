package report

import (
	"encoding/json"
	"strings"

	"infill/infill/jsonl"
)

// A sentenceRow is a JSON line of a batch that writes one for each filling (settings.PerFilling) or
// for each variant (settings.PerVariant), or for a line that failed.
type sentenceRow struct {
	Line       *int     `json:"line"`
	Score      *float64 `json:"score"`
	PerToken   *float64 `json:"score_per_token"`
	Scoring    string   `json:"scoring"`
	Acceptance *float64 `json:"acceptance"`
	Error      string   `json:"error"`
	Message    string   `json:"error_message"`

	sentence, gold, text string
	original             bool // the sentence is the text itself, and was not generated
}

// sentenceOf reads a JSON line if it is such a row. A variant stands in the field of the text.
func sentenceOf(line, textField string) *sentenceRow {
	may := func(name string) bool { return strings.Contains(line, name) }
	if !may(`"filled"`) && !may(`"variant"`) && !may(`"error_message"`) {
		return nil // of all other records, which are not decoded twice
	}
	r := &sentenceRow{}
	if json.Unmarshal([]byte(line), r) != nil || r.Line == nil {
		return nil
	}
	var of struct {
		Filled   any             `json:"filled"`
		Text     any             `json:"text"`
		Blanked  string          `json:"blanked"` // the text was masked
		Fillings json.RawMessage `json:"fillings"`
		Variant  *int            `json:"variant"`
		Original *string         `json:"original"`
	}
	if json.Unmarshal([]byte(line), &of) != nil || of.Fillings != nil {
		return nil
	}
	filled, ok := of.Filled.(string)
	switch {
	case r.Error != "":
	case ok:
		r.sentence = filled
		if r.text, _ = of.Text.(string); of.Blanked != "" {
			r.gold, r.text = r.text, of.Blanked
		}
	case of.Variant != nil && of.Original != nil:
		var fields map[string]any
		_ = json.Unmarshal([]byte(line), &fields) // it is an object, as above
		if r.sentence, ok = fields[textField].(string); !ok {
			return nil
		}
		r.gold, r.original = *of.Original, *of.Variant == 0
		if blanks, _ := of.Filled.([]any); len(blanks) > 0 && r.Score != nil {
			per := *r.Score / float64(len(blanks)) // each takes one token
			r.PerToken = &per
		}
	default:
		return nil
	}
	return r
}

// sentence takes a row. Rows one after the other that have the same line are of one record.
func (rd *reader) sentence(r *sentenceRow) error {
	if r.original {
		return nil
	}
	of := jsonl.Filling{Text: r.sentence, Score: r.Score, ScorePerToken: r.PerToken}
	rec := &jsonl.Record{Line: *r.Line, Text: r.text, Scoring: r.Scoring, Acceptance: r.Acceptance,
		Gold: r.gold}
	if before := rd.row; before != nil && *before.Line == *r.Line && r.Error == "" {
		rd.rank++
		return rd.generated(of, rd.rank, rec)
	}
	rd.row, rd.rank = r, 0
	if r.Error != "" {
		rec.Error = &jsonl.Failure{Code: r.Error, Message: r.Message}
	} else {
		rec.Fillings = []jsonl.Filling{of}
	}
	return rd.record(rec)
}
