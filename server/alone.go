package server

import (
	"cmp"
	"context"
	"math"
	"slices"

	"infill/infill/text"
	"infill/internal/gate"
	"infill/mlm"
)

// independent is log f(· | every blank masked) of every blank, one token each: what a fill-mask
// pipeline gives. Of a text too long for the model it sees a part around the blanks. cut is the
// text as the model sees it.
func independent(ctx context.Context, m *mlm.Model, t *text.Template) (cut *text.Template,
	logProb [][]float32, err error) {
	if t, err = t.Apart(); err != nil {
		return nil, nil, err
	}
	if cut, err = t.Cut(m.MaxLength(), 0); err != nil {
		return nil, nil, err
	}
	s := &mlm.Sentence{IDs: cut.IDs, Blanks: cut.Positions()}
	out := make([][]float32, len(s.Blanks))
	for b := range out {
		out[b] = make([]float32, m.VocabSize())
	}
	err = gate.Compute(ctx, m, func(ctx context.Context) error { return m.Independent(ctx, s, out) })
	return cut, out, err
}

// likeliest are the ids of the n largest values, the largest first, the smaller id first of equals.
func likeliest(logProb []float32, n int) []int32 {
	order := func(a, b int32) int {
		return cmp.Or(cmp.Compare(logProb[b], logProb[a]), cmp.Compare(a, b))
	}
	var top []int32 // sorted
	for id := range int32(len(logProb)) {
		if len(top) == n && order(top[n-1], id) < 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, id, order)
		top = slices.Insert(top, at, id)
		top = top[:min(len(top), n)]
	}
	return top
}

// alone are the likeliest words of every blank when all blanks are masked, one token each.
func alone(ctx context.Context, m *mlm.Model, t *text.Template) ([][]aloneWord, error) {
	_, probs, err := independent(ctx, m, t)
	if err != nil {
		return nil, err
	}
	tok := m.Tokenizer()
	out := make([][]aloneWord, len(probs))
	for b := range probs {
		for _, id := range likeliest(probs[b], aloneWords) {
			word, p := text.Word(tok, []int32{id}), math.Exp(float64(probs[b][id]))
			same := func(a aloneWord) bool { return a.Token == word }
			if i := slices.IndexFunc(out[b], same); i >= 0 { // with another mark
				out[b][i].P += p
			} else {
				out[b] = append(out[b], aloneWord{word, p})
			}
		}
	}
	return out, nil
}
