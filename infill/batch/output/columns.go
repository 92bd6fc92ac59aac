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
	cell func(r jsonl.Record, f *jsonl.Filling, rank int) any
}

// columnOf is a column of records of a kind that have no member of this name and type.
func columnOf[R any](name string, t table.Type, cell func(r *R) any) ownColumn {
	return ownColumn{table.Column{Name: name, Type: t},
		func(r jsonl.Record, _ *jsonl.Filling, _ int) any {
			if r, ok := any(r).(*R); ok {
				return cell(r)
			}
			return nil
		}}
}

// ofRecord are members of records of a kind.
func ofRecord[R any](names ...string) (out []ownColumn) {
	for _, name := range names {
		m := memberOf[R](name)
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
		func(_ jsonl.Record, f *jsonl.Filling, _ int) any {
			if f == nil {
				return nil
			}
			return cell(f)
		}}
}

// own are the columns that infill adds to those of the input.
func (l Layout) own() []ownColumn {
	var of []ownColumn
	fillings := slices.Concat(fillingColumns, asked(l, ofFilling, "energies"))
	switch {
	case l.Kind == Variants:
		of = slices.Concat(variantColumns, asked(l, ofFilling, "energies"))
	case l.scores() && l.Per == settings.PerWord:
		of = wordColumns
	case l.scores():
		of = l.scoreColumns()
	default:
		if slices.Contains(l.Asked, "masked") {
			of = maskColumns
		}
		if l.Per == settings.PerFilling {
			of = slices.Concat(of, []ownColumn{rankColumn}, fillings)
		} else {
			of = slices.Concat(of, fillings, []ownColumn{fillingsColumn(fillings)})
		}
		of = slices.Concat(of, runColumns, asked(l, ofRecord[jsonl.Filled], "marginals"))
	}
	return slices.Concat([]ownColumn{lineColumn}, of, errorColumns)
}

// asked is a column that only a layout has for which somebody asked for it.
func asked(l Layout, of func(...string) []ownColumn, name string) []ownColumn {
	if slices.Contains(l.Asked, name) {
		return of(name)
	}
	return nil
}

var maskColumns = append([]ownColumn{
	columnOf("blanked", text, func(r *jsonl.Filled) any {
		if len(r.Masked) == 0 {
			return nil
		}
		return r.Text
	}),
}, ofRecord[jsonl.Filled]("masked")...)

var lineColumn = ownColumn{table.Column{Name: "line", Type: whole},
	func(r jsonl.Record, _ *jsonl.Filling, _ int) any { return int64(r.Of().Line) }}

// variantColumns are the columns of a row that has a variant in place of the text. The first one is
// 0 in the row of the text itself.
var variantColumns = slices.Concat(
	[]ownColumn{
		{table.Column{Name: "variant", Type: whole},
			func(r jsonl.Record, f *jsonl.Filling, rank int) any {
				if f == nil && r.By().Error != nil {
					return nil
				}
				return int64(rank)
			}},
		{table.Column{Name: "original", Type: text},
			func(r jsonl.Record, _ *jsonl.Filling, _ int) any { return r.Of().Text }},
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
	ofRecord[jsonl.Filled]("scoring"),
	[]ownColumn{countColumn("missing", func(r *jsonl.Filled) int { return r.Missing })},
)

// countColumn has a number of each record that did not fail, 0 too.
func countColumn(name string, of func(*jsonl.Filled) int) ownColumn {
	return columnOf(name, whole, func(r *jsonl.Filled) any {
		if r.Error != nil || r.Left != "" {
			return nil
		}
		return int64(of(r))
	})
}

var rankColumn = ownColumn{table.Column{Name: "rank", Type: whole},
	func(_ jsonl.Record, f *jsonl.Filling, rank int) any {
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

// fillingsColumn has all fillings of a sentence, each with the members of its own columns.
func fillingsColumn(columns []ownColumn) ownColumn {
	var members []table.Column
	for _, c := range columns {
		members = append(members, c.Column)
	}
	return columnOf("fillings", listOf(structOf(members...)), func(r *jsonl.Filled) any {
		if r.Error != nil || r.Left != "" {
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

var runColumns = slices.Concat(ofRecord[jsonl.Filled]("scoring"),
	[]ownColumn{countColumn("distinct", func(r *jsonl.Filled) int { return r.Distinct })},
	ofRecord[jsonl.Filled]("acceptance", "groups"))

// wordOf is the word of a rank from 1, or the region behind the words, nil for none.
func wordOf(r *jsonl.Scored, rank int) *jsonl.Word {
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
		out = append(out, ownColumn{m.Column, func(r jsonl.Record, _ *jsonl.Filling, rank int) any {
			if r, ok := r.(*jsonl.Scored); ok {
				if w := wordOf(r, rank); w != nil {
					return m.cell(w)
				}
			}
			return nil
		}})
	}
	return out
}()

// scoreColumns are the columns for texts that were scored, with the candidates for their blanks.
func (l Layout) scoreColumns() []ownColumn {
	candidate := []string{"candidate", "text", "tokens", "score", "score_per_token", "share"}
	energies := asked(l, ofRecord[jsonl.Scored], "energies")
	if energies != nil {
		candidate = append(candidate, "energies")
	}
	of := ofRecord[jsonl.Scored]("score", "score_per_token")
	if l.Kind == Pairs {
		of = append(of, pairColumn)
	}
	of = append(of, piecesColumn, ofBoth("scoring"), structsColumn("candidates",
		func(r *jsonl.Ranked) []infill.Candidate { return r.Candidates }, candidate...),
		ofBoth("difference"))
	return append(of, energies...)
}

// ofBoth is a member of texts that were scored, and of those with candidates.
func ofBoth(name string) ownColumn {
	scored, ranked := ofRecord[jsonl.Scored](name)[0], ofRecord[jsonl.Ranked](name)[0]
	return ownColumn{scored.Column, func(r jsonl.Record, f *jsonl.Filling, rank int) any {
		if v := scored.cell(r, f, rank); v != nil {
			return v
		}
		return ranked.cell(r, f, rank)
	}}
}

// pairColumn is the score of the text that another one was compared with.
var pairColumn = columnOf("pair_score", number, func(r *jsonl.Scored) any {
	if r.Pair == nil {
		return nil
	}
	return r.Pair.Score
})

var piecesColumn = columnOf("pieces", listOf(structOf(table.Column{Name: "piece", Type: text},
	table.Column{Name: "id", Type: whole}, table.Column{Name: "start", Type: whole},
	table.Column{Name: "end", Type: whole}, table.Column{Name: "log_prob", Type: number})),
	func(r *jsonl.Scored) any {
		return cells(r.Pieces, func(p jsonl.Piece) any {
			return []any{p.Piece, int64(p.ID), int64(p.Span[0]), int64(p.Span[1]), p.LogProb}
		})
	})

var errorColumns = []ownColumn{
	failureColumn("error", func(e *jsonl.Failure) any { return e.Code }),
	failureColumn("error_message", func(e *jsonl.Failure) any { return e.Message }),
}

// failureColumn is a column of records that failed.
func failureColumn(name string, cell func(*jsonl.Failure) any) ownColumn {
	return ownColumn{table.Column{Name: name, Type: text},
		func(r jsonl.Record, _ *jsonl.Filling, _ int) any {
			if e := r.By().Error; e != nil {
				return cell(e)
			}
			return nil
		}}
}

// structsColumn has a list of structs of a record, each with some of its members.
func structsColumn[R, T any](name string, of func(*R) []T, names ...string) ownColumn {
	var columns []table.Column
	var members []member[T]
	for _, n := range names {
		m := memberOf[T](n)
		columns, members = append(columns, m.Column), append(members, m)
	}
	return columnOf(name, listOf(structOf(columns...)), func(r *R) any {
		return cells(of(r), func(v T) any {
			return cells(members, func(m member[T]) any { return m.cell(&v) })
		})
	})
}
