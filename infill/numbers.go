package infill

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"infill/infill/internal/recall"
	"infill/infill/text"
)

// numbersAbove is the share of numbers, among words and numbers, from which a plain blank takes
// numbers too.
const numbersAbove = 0.5

// numbered lets plain blanks take numbers where the model has mostly these, all blanks masked. It
// returns the template with such groups, the numbers of their blanks, and how many rows it took.
// The same blanks take numbers on every processor.
func (e *Engine) numbered(ctx context.Context, t *text.Template, opt *Options) (
	out *text.Template, blanks []int, rows int, err error) {
	var open []int // groups that may take them
	for g := range t.Groups {
		if opt.Words.Allow == nil && opt.Words.Original == nil &&
			t.Undecided(&t.Groups[g], opt.Words.Vocab) {
			open = append(open, g)
		}
	}
	if open == nil {
		return t, nil, 0, nil
	}
	for _, word := range opt.Results.Rank {
		if strings.ContainsFunc(word, unicode.IsDigit) { // asked for
			return t.WithDigits(open), nil, 0, nil
		}
	}
	exact, err := e.model.Float32(ctx)
	if err != nil {
		return nil, nil, 0, err
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
	shares, err := e.numberShares(ctx, t, open, m.Source(limit), m)
	if err != nil {
		return nil, nil, 0, err
	}
	var take []int
	for i, g := range open {
		if shares[i] > numbersAbove {
			take, blanks = append(take, g), append(blanks, t.Groups[g].Blanks...)
		}
	}
	return t.WithDigits(take), blanks, m.Evaluated(), nil
}

// numberShares is the share of numbers, among words and numbers, in the blanks of some groups, the
// least of tied ones, all blanks masked.
func (e *Engine) numberShares(ctx context.Context, t *text.Template, groups []int,
	src *recall.Source, m *recall.Recall) ([]float64, error) {
	lengths := make([]int, len(t.Groups))
	for g := range t.Groups {
		lengths[g] = t.Groups[g].Min
	}
	sentence, start := t.Stretch(lengths)
	state := slices.Repeat([]int32{e.Tokenizer().MaskID()}, len(sentence.Blanks))
	var asks []*recall.Ask
	for _, g := range groups {
		for _, b := range t.Groups[g].Blanks {
			asks = append(asks, src.Ask(sentence, state, start[b], m))
		}
	}
	if err := src.Fetch(ctx, asks); err != nil {
		return nil, err
	}
	shares := make([]float64, len(groups))
	for i, g := range groups {
		shares[i] = 1
		for _, b := range t.Groups[g].Blanks {
			row, _ := src.Row(asks[0])
			asks = asks[1:]
			share, err := e.supports.NumberShare(t, b, func(id int32) float64 {
				return math.Exp(float64(row.Value(id)))
			})
			if err != nil {
				return nil, err
			}
			shares[i] = min(shares[i], share)
		}
	}
	return shares, nil
}
