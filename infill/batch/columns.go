package batch

import (
	"slices"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
)

// An ownColumn is a column that infill makes. cell has the record and the filling of
// the row with its rank from 1; the filling is nil where there is none.
type ownColumn struct {
	table.Column
	cell func(r *jsonl.Record, f *jsonl.Filling, rank int) any
}

// The types of columns.
var (
	text   = table.Type{Kind: table.Text}
	whole  = table.Type{Kind: table.Whole}
	number = table.Type{Kind: table.Number}
	texts  = listOf(text)
	spans  = listOf(listOf(whole))
)

func listOf(t table.Type) table.Type { return table.Type{Kind: table.List, Elem: &t} }

func structOf(members ...table.Column) table.Type {
	return table.Type{Kind: table.Struct, Fields: members}
}

// ofRecord is a column of the whole record.
func ofRecord(name string, t table.Type, cell func(r *jsonl.Record) any) ownColumn {
	return ownColumn{table.Column{Name: name, Type: t},
		func(r *jsonl.Record, _ *jsonl.Filling, _ int) any { return cell(r) }}
}

// ofFilling is a column of one filling, empty where there is none.
func ofFilling(name string, t table.Type, cell func(f *jsonl.Filling) any) ownColumn {
	return ownColumn{table.Column{Name: name, Type: t},
		func(_ *jsonl.Record, f *jsonl.Filling, _ int) any {
			if f == nil {
				return nil
			}
			return cell(f)
		}}
}

// own are the columns that infill adds to those of the input.
func (l Layout) own() []ownColumn {
	all := []ownColumn{lineColumn}
	if l.Per == settings.PerVariant {
		return append(append(append(all, variantColumns...), l.askedOfFillings()...), errorColumns...)
	}
	if l.Masked {
		all = append(all, maskColumns...)
	}
	fillings := slices.Concat(fillingColumns, l.askedOfFillings())
	switch {
	case l.Scores:
		all = append(append(all, scoreColumns...), l.candidatesColumn())
		if l.Energies {
			all = append(all, scoreEnergies)
		}
	case l.Per == settings.PerFilling:
		all = slices.Concat(all, []ownColumn{rankColumn}, fillings, runColumns, l.askedOfRecords())
	default:
		all = slices.Concat(all, fillings, []ownColumn{fillingsColumn(fillings)}, runColumns,
			l.askedOfRecords())
	}
	return append(all, errorColumns...)
}

var lineColumn = ofRecord("line", whole, func(r *jsonl.Record) any { return int64(r.Line) })

var maskColumns = []ownColumn{
	ofRecord("blanked", text, func(r *jsonl.Record) any {
		if len(r.Masked) == 0 {
			return nil
		}
		return r.Text
	}),
	ofRecord("masked", texts, func(r *jsonl.Record) any { return textCells(r.Masked) }),
}

// variantColumns are those of a row that has a variant in the place of the text. The first one is
// 0 in the row of the text itself.
var variantColumns = []ownColumn{
	{table.Column{Name: "variant", Type: whole},
		func(r *jsonl.Record, f *jsonl.Filling, rank int) any {
			if f == nil && r.Error != nil {
				return nil
			}
			return int64(rank)
		}},
	ofRecord("original", text, func(r *jsonl.Record) any { return r.Text }),
	ofFilling("blanked", text, func(f *jsonl.Filling) any { return f.Blanked }),
	ofFilling("masked", texts, func(f *jsonl.Filling) any { return textCells(f.Masked) }),
	ofFilling("filled", texts, func(f *jsonl.Filling) any {
		return cells(f.Spans, func(s jsonl.Span) any { return f.Text[s[0]:s[1]] })
	}),
	ofFilling("filled_spans", spans, func(f *jsonl.Filling) any { return spanCells(f.Spans) }),
	ofFilling("score", number, func(f *jsonl.Filling) any { return numberCell(f.Score) }),
	ofFilling("original_score", number,
		func(f *jsonl.Filling) any { return numberCell(f.OriginalScore) }),
	ofFilling("edits", whole, func(f *jsonl.Filling) any { return wholeCell(f.Edits) }),
	ofFilling("masked_places", whole, func(f *jsonl.Filling) any { return wholeCell(f.Masks) }),
	ofFilling("changed_places", whole, func(f *jsonl.Filling) any { return wholeCell(f.Changed) }),
	ofFilling("similarity", number, func(f *jsonl.Filling) any { return numberCell(f.Similarity) }),
	scoringColumn,
	ofRecord("missing", whole, func(r *jsonl.Record) any {
		if r.Error != nil {
			return nil
		}
		return int64(r.Missing)
	}),
}

var rankColumn = ownColumn{table.Column{Name: "rank", Type: whole},
	func(_ *jsonl.Record, f *jsonl.Filling, rank int) any {
		if f == nil {
			return nil
		}
		return int64(rank)
	}}

var fillingColumns = []ownColumn{
	ofFilling("filled", text, func(f *jsonl.Filling) any { return f.Text }),
	ofFilling("score", number, func(f *jsonl.Filling) any { return numberCell(f.Score) }),
	ofFilling("score_per_token", number,
		func(f *jsonl.Filling) any { return numberCell(f.ScorePerToken) }),
	ofFilling("probability", number,
		func(f *jsonl.Filling) any { return numberCell(f.Probability) }),
	ofFilling("tokens", texts, func(f *jsonl.Filling) any { return textCells(f.Tokens) }),
	ofFilling("spans", spans, func(f *jsonl.Filling) any { return spanCells(f.Spans) }),
	ofFilling("count", whole, func(f *jsonl.Filling) any {
		if f.Count == 0 { // the filling was computed, without chains
			return nil
		}
		return int64(f.Count)
	}),
}

// fillingsColumn has all fillings of a sentence, each with the members of its own
// columns.
func fillingsColumn(columns []ownColumn) ownColumn {
	var t table.Type
	t.Kind = table.Struct
	for _, c := range columns {
		t.Fields = append(t.Fields, c.Column)
	}
	return ofRecord("fillings", listOf(t), func(r *jsonl.Record) any {
		if r.Error != nil {
			return nil
		}
		list := make([]any, len(r.Fillings))
		for i := range r.Fillings {
			var cells []any
			for _, c := range columns {
				cells = append(cells, c.cell(r, &r.Fillings[i], i+1))
			}
			list[i] = cells
		}
		return list
	})
}

// scoringColumn says what the scores of a row are.
var scoringColumn = ofRecord("scoring", text, func(r *jsonl.Record) any {
	if r.Scoring == "" {
		return nil
	}
	return r.Scoring
})

var runColumns = []ownColumn{
	scoringColumn,
	ofRecord("distinct", whole, func(r *jsonl.Record) any {
		if r.Error != nil {
			return nil
		}
		return int64(r.Distinct)
	}),
	ofRecord("acceptance", number, func(r *jsonl.Record) any { return numberCell(r.Acceptance) }),
}

var scoreColumns = []ownColumn{
	ofRecord("score", number, func(r *jsonl.Record) any { return numberCell(r.Score) }),
	ofRecord("score_per_token", number,
		func(r *jsonl.Record) any { return numberCell(r.ScorePerToken) }),
	ofRecord("pieces", listOf(structOf(table.Column{Name: "piece", Type: text},
		table.Column{Name: "id", Type: whole}, table.Column{Name: "start", Type: whole},
		table.Column{Name: "end", Type: whole}, table.Column{Name: "log_prob", Type: number})),
		func(r *jsonl.Record) any {
			return cells(r.Pieces, func(p jsonl.Piece) any {
				return []any{p.Piece, int64(p.ID), int64(p.Span[0]), int64(p.Span[1]), p.LogProb}
			})
		}),
	scoringColumn,
}

var errorColumns = []ownColumn{
	ofRecord("error", text, func(r *jsonl.Record) any {
		if r.Error == nil {
			return nil
		}
		return r.Error.Code
	}),
	ofRecord("error_message", text, func(r *jsonl.Record) any {
		if r.Error == nil {
			return nil
		}
		return r.Error.Message
	}),
}

func numberCell(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}

func wholeCell(n *int) any {
	if n == nil {
		return nil
	}
	return int64(*n)
}

// cells is a list of cells; nil stays empty.
func cells[T any](list []T, cell func(T) any) any {
	if list == nil {
		return nil
	}
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = cell(v)
	}
	return out
}

func textCells(list []string) any { return cells(list, func(s string) any { return s }) }

func spanCells(list []jsonl.Span) any {
	return cells(list, func(s jsonl.Span) any { return []any{int64(s[0]), int64(s[1])} })
}
