package report

import (
	"encoding/json"
	"strings"

	"infill/infill/jsonl"
)

// A fillingRow is a JSON line of a batch that writes one for each filling (settings.PerFilling),
// or for a line that failed.
type fillingRow struct {
	Line          *int            `json:"line"`
	Filled        *string         `json:"filled"`
	Score         *float64        `json:"score"`
	ScorePerToken *float64        `json:"score_per_token"`
	Text          any             `json:"text"`
	Blanked       string          `json:"blanked"` // the text was masked
	Acceptance    *float64        `json:"acceptance"`
	Error         string          `json:"error"`
	Message       string          `json:"error_message"`
	Fillings      json.RawMessage `json:"fillings"` // not in such a line
}

// filling reads a JSON line if it is the row of a filling.
func filling(line string) *fillingRow {
	if !strings.Contains(line, `"filled"`) && !strings.Contains(line, `"error_message"`) {
		return nil // of all other records, which are not decoded twice
	}
	r := &fillingRow{}
	if json.Unmarshal([]byte(line), r) != nil || r.Line == nil || r.Fillings != nil ||
		r.Filled == nil && r.Error == "" {
		return nil
	}
	return r
}

// filling takes a row. Rows one after the other that have the same line are of one record.
func (rd *reader) filling(r *fillingRow) error {
	if before := rd.row; before != nil && *before.Line == *r.Line && r.Error == "" {
		rd.rank++
		return rd.generated(r.of(), rd.rank, r.gold())
	}
	rd.row, rd.rank = r, 0
	rec := &jsonl.Record{Line: *r.Line, Acceptance: r.Acceptance, Gold: r.gold()}
	if r.Error != "" {
		rec.Error = &jsonl.Failure{Code: r.Error, Message: r.Message}
	} else {
		rec.Fillings = []jsonl.Filling{r.of()}
	}
	return rd.record(rec)
}

func (r *fillingRow) of() jsonl.Filling {
	return jsonl.Filling{Text: *r.Filled, Score: r.Score, ScorePerToken: r.ScorePerToken}
}

// gold is the text before words were masked, "" if none were.
func (r *fillingRow) gold() string {
	if text, ok := r.Text.(string); ok && r.Blanked != "" {
		return text
	}
	return ""
}
