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

// partOf is the part of a row with values of a type: its record, the item or the error of that, its
// filling, or the word of its rank. It is nil where a row has none.
func partOf[T any](r jsonl.Record, f *jsonl.Filling, rank int) *T {
	var of any = r
	switch any((*T)(nil)).(type) {
	case *jsonl.Item:
		of = r.Of()
	case *jsonl.Failure:
		of = r.By().Error
	case *jsonl.Filling:
		of = f
	case *jsonl.Word:
		of = wordOf(r, rank)
	}
	part, _ := of.(*T)
	return part
}

// columnOf is a column of a part of a row, empty where there is none.
func columnOf[T any](name string, t table.Type, cell func(*T) any) ownColumn {
	return ownColumn{table.Column{Name: name, Type: t},
		func(r jsonl.Record, f *jsonl.Filling, rank int) any {
			if part := partOf[T](r, f, rank); part != nil {
				return cell(part)
			}
			return nil
		}}
}

// columnsOf are members of a part of a row.
func columnsOf[T any](names ...string) (out []ownColumn) {
	for _, name := range names {
		m := memberOf[T](name)
		out = append(out, columnOf(name, m.Type, m.cell))
	}
	return out
}

// own are the columns that infill adds to those of the input.
func (l Layout) own() []ownColumn {
	var of []ownColumn
	energies := asked(l, columnsOf[jsonl.Filling], "energies")
	fillings := slices.Concat(fillingColumns, energies)
	switch {
	case l.Kind == Variants:
		of = slices.Concat(variantColumns, energies)
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
		of = slices.Concat(of, runColumns, asked(l, columnsOf[jsonl.Filled], "marginals"))
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
}, columnsOf[jsonl.Filled]("masked")...)

var lineColumn = columnOf("line", whole, func(it *jsonl.Item) any { return int64(it.Line) })

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
		columnOf("original", text, func(it *jsonl.Item) any { return it.Text }),
	},
	columnsOf[jsonl.Filling]("blanked", "masked"),
	[]ownColumn{
		columnOf("filled", texts, func(f *jsonl.Filling) any {
			return cells(f.Spans, func(s jsonl.Span) any { return f.Text[s[0]:s[1]] })
		}),
		columnOf("filled_spans", spans, memberOf[jsonl.Filling]("spans").cell),
	},
	columnsOf[jsonl.Filling]("score", "original_score", "edits", "masked_places", "changed_places",
		"similarity", "groups"),
	columnsOf[jsonl.Filled]("scoring"),
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
	[]ownColumn{columnOf("filled", text, memberOf[jsonl.Filling]("text").cell)},
	columnsOf[jsonl.Filling]("score", "score_per_token", "probability", "tokens", "spans"),
	[]ownColumn{columnOf("count", whole, func(f *jsonl.Filling) any {
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

var runColumns = slices.Concat(columnsOf[jsonl.Filled]("scoring"),
	[]ownColumn{countColumn("distinct", func(r *jsonl.Filled) int { return r.Distinct })},
	columnsOf[jsonl.Filled]("acceptance", "groups"))

// wordOf is the word of a rank from 1, or the region behind the words, nil for none.
func wordOf(of jsonl.Record, rank int) *jsonl.Word {
	r, ok := of.(*jsonl.Scored)
	switch i := rank - 1; {
	case !ok || i < 0 || i >= len(r.Words)+len(r.Regions):
		return nil
	case i < len(r.Words):
		return &r.Words[i]
	default:
		return &r.Regions[i-len(r.Words)]
	}
}

// wordColumns are the columns of a row that has a word or a region, the one of its rank. A region
// has a label.
var wordColumns = columnsOf[jsonl.Word]("word", "label", "start", "end", "start_char", "end_char",
	"pieces", "surprisal_bits", "score")

// scoreColumns are the columns for texts that were scored, with the candidates for their blanks.
func (l Layout) scoreColumns() []ownColumn {
	candidate := []string{"candidate", "text", "tokens", "score", "score_per_token", "share"}
	energies := asked(l, columnsOf[jsonl.Scored], "energies")
	if energies != nil {
		candidate = append(candidate, "energies")
	}
	of := columnsOf[jsonl.Scored]("score", "score_per_token")
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
	scored, ranked := columnsOf[jsonl.Scored](name)[0], columnsOf[jsonl.Ranked](name)[0]
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
	columnOf("error", text, func(e *jsonl.Failure) any { return e.Code }),
	columnOf("error_message", text, func(e *jsonl.Failure) any { return e.Message }),
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
