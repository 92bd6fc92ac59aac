package batch

import (
	"encoding/json"

	"infill/infill/jsonl"
	"infill/infill/table"
)

// object is a column of JSON, as records have it.
var object = table.Type{Kind: table.JSON}

// objectCell is a value as JSON, empty where there is none.
func objectCell[T any](v T, none bool) any {
	if none {
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil { // no value of a record that was read has none
		return nil
	}
	return json.RawMessage(b)
}

// askedOfFillings are the columns of one filling that only those who ask for them have.
func (l Layout) askedOfFillings() (out []ownColumn) {
	if l.Energies {
		out = append(out, ofFilling("energies", object,
			func(f *jsonl.Filling) any { return objectCell(f.Energies, f.Energies == nil) }))
	}
	if l.LogZ {
		out = append(out, ofFilling("log_probability", number,
			func(f *jsonl.Filling) any { return numberCell(f.LogProbability) }))
	}
	return out
}

// askedOfRecords are such columns of the whole record.
func (l Layout) askedOfRecords() (out []ownColumn) {
	if l.LogZ {
		out = append(out, ofRecord("normalizers", object,
			func(r *jsonl.Record) any { return objectCell(r.Normalizers, r.Normalizers == nil) }))
	}
	if l.Marginals {
		out = append(out, ofRecord("marginals", object,
			func(r *jsonl.Record) any { return objectCell(r.Marginals, r.Marginals == nil) }))
	}
	return out
}

// scoreEnergies has the parts of the score of a text.
var scoreEnergies = ofRecord("energies", object,
	func(r *jsonl.Record) any { return objectCell(r.Energies, r.Energies == nil) })

// candidatesColumn has the candidates for the blank of a text that was scored.
func (l Layout) candidatesColumn() ownColumn {
	members := []table.Column{{Name: "candidate", Type: text}, {Name: "text", Type: text},
		{Name: "tokens", Type: texts}, {Name: "score", Type: number},
		{Name: "score_per_token", Type: number}, {Name: "share", Type: number}}
	if l.Energies {
		members = append(members, table.Column{Name: "energies", Type: object})
	}
	return ofRecord("candidates", listOf(structOf(members...)), func(r *jsonl.Record) any {
		return cells(r.Candidates, func(c jsonl.Candidate) any {
			out := []any{c.Candidate, c.Text, textCells(c.Tokens), c.Score, c.ScorePerToken, c.Share}
			if l.Energies {
				out = append(out, objectCell(c.Energies, c.Energies == nil))
			}
			return out
		})
	})
}
