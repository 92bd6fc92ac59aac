package infill

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"infill/infill/internal/recall"
	"infill/infill/internal/space"
)

// numbersAbove is the share of numbers, among words and numbers, from which a plain blank takes
// numbers too.
const numbersAbove = 0.5

// numbered lets plain blanks take numbers where the model has mostly these, all blanks masked. It
// returns the numbers of the blanks, and how many rows it took. The same blanks take numbers on
// every processor.
func (e *Engine) numbered(ctx context.Context, rules *space.Rules, opt *Options) (blanks []int,
	rows int, err error) {
	if opt.Words.Allow != nil || opt.Words.Original != nil {
		return nil, 0, nil
	}
	open, t := rules.Undecided(), rules.Template
	if open == nil {
		return nil, 0, nil
	}
	if slices.ContainsFunc(opt.Results.Rank, func(word string) bool {
		return strings.ContainsFunc(word, unicode.IsDigit) // asked for
	}) {
		for _, g := range open {
			rules.TakeNumbers(g)
		}
		return nil, 0, nil
	}
	exact, err := e.model.Float32(ctx)
	if err != nil {
		return nil, 0, err
	}
	m := recall.New(e.model, e.memo)
	if exact != e.model {
		m = m.Unrounded(exact) // as the first rows of a search are
	}
	limit := opt.Search.Context
	if len(t.Groups) == 1 || opt.Method != MethodSearch {
		limit = e.model.MaxLength()
	} else if most := e.model.MaxLength(); most > 0 {
		limit = min(limit, most)
	}
	lengths := make([]int, len(t.Groups))
	for g := range t.Groups {
		lengths[g] = t.Groups[g].Min
	}
	sentence, start := t.Stretch(lengths)
	state := slices.Repeat([]int32{e.Tokenizer().MaskID()}, len(sentence.Blanks))
	src := m.Source(limit)
	var asks []*recall.Ask
	for _, g := range open {
		for _, b := range t.Groups[g].Blanks {
			asks = append(asks, src.Ask(sentence, state, start[b], m))
		}
	}
	if err := src.Fetch(ctx, asks); err != nil {
		return nil, 0, err
	}
	for _, g := range open {
		share := 1.0 // the least of tied blanks
		for range t.Groups[g].Blanks {
			row, _ := src.Row(asks[0])
			asks = asks[1:]
			share = min(share, rules.NumberShare(g, func(id int32) float64 {
				return math.Exp(float64(row.Value(id)))
			}))
		}
		if share > numbersAbove {
			rules.TakeNumbers(g)
			blanks = append(blanks, t.Groups[g].Blanks...)
		}
	}
	return blanks, m.Evaluated(), nil
}
