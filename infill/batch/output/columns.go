package output

import (
	"slices"

	"infill/infill"
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

// columnOf is a column of the whole record that has no member of this name and type.
func columnOf(name string, t table.Type, cell func(r *jsonl.Record) any) ownColumn {
	return ownColumn{table.Column{Name: name, Type: t},
		func(r *jsonl.Record, _ *jsonl.Filling, _ int) any { return cell(r) }}
}

// ofRecord are members of the whole record.
func ofRecord(names ...string) (out []ownColumn) {
	for _, name := range names {
		m := memberOf[jsonl.Record](name)
		out = append(out, columnOf(name, m.Type, m.cell))
	}
	return out
}

// ofFilling are members of one filling, empty where there is none.
func ofFilling(names ...string) (out []ownColumn) {
	for _, name := range names {
		m := memberOf[jsonl.Filling](name)
		out = append(out, fillingColumn(name, m.Type, m.cell))
	}
	return out
}

// fillingColumn is a column of one filling that has no member of this name and type.
func fillingColumn(name string, t table.Type, cell func(f *jsonl.Filling) any) ownColumn {
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
	line := ofRecord("line")
	fillings := slices.Concat(fillingColumns, l.askedOfFillings())
	masks := maskColumns
	if !l.Masked {
		masks = nil
	}
	switch {
	case l.Per == settings.PerVariant:
		return slices.Concat(line, variantColumns, l.askedOfFillings(), errorColumns)
	case l.Scores && l.Per == settings.PerWord:
		return slices.Concat(line, wordColumns, errorColumns)
	case l.Scores:
		return slices.Concat(line, masks, l.scoreColumns(), errorColumns)
	case l.Per == settings.PerFilling:
		fillings = slices.Concat([]ownColumn{rankColumn}, fillings)
	default:
		fillings = append(fillings, fillingsColumn(fillings))
	}
	return slices.Concat(line, masks, fillings, runColumns, l.askedOfRecords(), errorColumns)
}

var maskColumns = append([]ownColumn{
	columnOf("blanked", text, func(r *jsonl.Record) any {
		if len(r.Masked) == 0 {
			return nil
		}
		return r.Text
	}),
}, ofRecord("masked")...)

// variantColumns are the columns of a row that has a variant in place of the text. The first one is
// 0 in the row of the text itself.
var variantColumns = slices.Concat(
	[]ownColumn{
		{table.Column{Name: "variant", Type: whole},
			func(r *jsonl.Record, f *jsonl.Filling, rank int) any {
				if f == nil && r.Error != nil {
					return nil
				}
				return int64(rank)
			}},
		columnOf("original", text, func(r *jsonl.Record) any { return r.Text }),
	},
	ofFilling("blanked", "masked"),
	[]ownColumn{
		fillingColumn("filled", texts, func(f *jsonl.Filling) any {
			return cells(f.Spans, func(s jsonl.Span) any { return f.Text[s[0]:s[1]] })
		}),
		fillingColumn("filled_spans", spans, memberOf[jsonl.Filling]("spans").cell),
	},
	ofFilling("score", "original_score", "edits", "masked_places", "changed_places", "similarity",
		"groups"),
	ofRecord("scoring"),
	[]ownColumn{countColumn("missing", func(r *jsonl.Record) int { return r.Missing })},
)

// countColumn has a number of each record that did not fail, 0 too.
func countColumn(name string, of func(*jsonl.Record) int) ownColumn {
	return columnOf(name, whole, func(r *jsonl.Record) any {
		if r.Error != nil {
			return nil
		}
		return int64(of(r))
	})
}

var rankColumn = ownColumn{table.Column{Name: "rank", Type: whole},
	func(_ *jsonl.Record, f *jsonl.Filling, rank int) any {
		if f == nil {
			return nil
		}
		return int64(rank)
	}}

var fillingColumns = slices.Concat(
	[]ownColumn{fillingColumn("filled", text, memberOf[jsonl.Filling]("text").cell)},
	ofFilling("score", "score_per_token", "probability", "tokens", "spans"),
	[]ownColumn{fillingColumn("count", whole, func(f *jsonl.Filling) any {
		if f.Count == 0 { // the filling was computed, without chains
			return nil
		}
		return int64(f.Count)
	})},
)

// fillingsColumn has all fillings of a sentence, each with the members of its own
// columns.
func fillingsColumn(columns []ownColumn) ownColumn {
	var members []table.Column
	for _, c := range columns {
		members = append(members, c.Column)
	}
	return columnOf("fillings", listOf(structOf(members...)), func(r *jsonl.Record) any {
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

var runColumns = slices.Concat(ofRecord("scoring"),
	[]ownColumn{countColumn("distinct", func(r *jsonl.Record) int { return r.Distinct })},
	ofRecord("acceptance", "groups"))

// wordOf is the word of a rank from 1, or the region behind the words, nil for none.
func wordOf(r *jsonl.Record, rank int) *jsonl.Word {
	switch i, words := rank-1, len(r.Words); {
	case i < 0 || i >= words+len(r.Regions):
		return nil
	case i < words:
		return &r.Words[i]
	default:
		return &r.Regions[i-words]
	}
}

// wordColumns are the columns of a row that has a word or a region, the one of its rank. A region
// has a label.
var wordColumns = func() (out []ownColumn) {
	for _, name := range []string{"word", "label", "start", "end", "start_char", "end_char", "pieces",
		"surprisal_bits", "score"} {
		m := memberOf[jsonl.Word](name)
		out = append(out, ownColumn{m.Column, func(r *jsonl.Record, _ *jsonl.Filling, rank int) any {
			w := wordOf(r, rank)
			if w == nil {
				return nil
			}
			return m.cell(w)
		}})
	}
	return out
}()

// scoreColumns are the columns for texts that were scored, with the candidates for their blanks.
func (l Layout) scoreColumns() []ownColumn {
	candidate := []string{"candidate", "text", "tokens", "score", "score_per_token", "share"}
	var pair, energies []ownColumn
	if l.Pairs {
		pair = []ownColumn{pairColumn}
	}
	if l.Energies {
		candidate, energies = append(candidate, "energies"), ofRecord("energies")
	}
	return slices.Concat(ofRecord("score", "score_per_token"), pair,
		[]ownColumn{piecesColumn}, ofRecord("scoring"), []ownColumn{structsColumn("candidates",
			func(r *jsonl.Record) []infill.Candidate { return r.Candidates }, candidate...)},
		ofRecord("difference"), energies)
}

// pairColumn is the score of the text that another one was compared with.
var pairColumn = columnOf("pair_score", number, func(r *jsonl.Record) any {
	if r.Pair == nil {
		return nil
	}
	return r.Pair.Score
})

var piecesColumn = columnOf("pieces", listOf(structOf(table.Column{Name: "piece", Type: text},
	table.Column{Name: "id", Type: whole}, table.Column{Name: "start", Type: whole},
	table.Column{Name: "end", Type: whole}, table.Column{Name: "log_prob", Type: number})),
	func(r *jsonl.Record) any {
		return cells(r.Pieces, func(p jsonl.Piece) any {
			return []any{p.Piece, int64(p.ID), int64(p.Span[0]), int64(p.Span[1]), p.LogProb}
		})
	})

var errorColumns = []ownColumn{
	columnOf("error", text, failure(func(e *jsonl.Failure) any { return e.Code })),
	columnOf("error_message", text, failure(func(e *jsonl.Failure) any { return e.Message })),
}

// failure is a cell of a record that failed.
func failure(cell func(*jsonl.Failure) any) func(*jsonl.Record) any {
	return func(r *jsonl.Record) any {
		if r.Error == nil {
			return nil
		}
		return cell(r.Error)
	}
}

// askedOfFillings are the columns of one filling that only those who ask for them have.
func (l Layout) askedOfFillings() (out []ownColumn) {
	if l.Energies {
		out = ofFilling("energies")
	}
	return out
}

// askedOfRecords are such columns of the whole record.
func (l Layout) askedOfRecords() (out []ownColumn) {
	if l.Marginals {
		out = ofRecord("marginals")
	}
	return out
}

// structsColumn has a list of structs of a record, each with some of its members.
func structsColumn[T any](name string, of func(*jsonl.Record) []T, names ...string) ownColumn {
	var columns []table.Column
	var members []member[T]
	for _, n := range names {
		m := memberOf[T](n)
		columns, members = append(columns, m.Column), append(members, m)
	}
	return columnOf(name, listOf(structOf(columns...)), func(r *jsonl.Record) any {
		return cells(of(r), func(v T) any {
			return cells(members, func(m member[T]) any { return m.cell(&v) })
		})
	})
}
