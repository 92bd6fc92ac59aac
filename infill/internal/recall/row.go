package recall

import (
	"slices"

	"infill/samplers"
)

// A Row is what the model says of a masked token, log f for the tokens that are kept.
type Row struct {
	*entry
	kept *kept // nil: all tokens
}

// Value returns a token's value.
func (r Row) Value(id int32) float32 { return r.kept.value(r.wide, id) }

// spread puts the values where they stand in the vocabulary, and nothing elsewhere.
func (r Row) spread(dst []float32) { r.kept.spread(dst, r.wide) }

// Spell fills dst with the values of tokens.
func (r Row) Spell(dst []float64, ids []int32) {
	switch {
	case r.kept == nil:
		for v, id := range ids {
			dst[v] = float64(r.wide[id])
		}
	case r.kept.are(ids):
		for v, l := range r.wide {
			dst[v] = float64(l)
		}
	default:
		for v, id := range ids {
			dst[v] = float64(r.wide[r.kept.at[id]])
		}
	}
}

// A rowSum is what samplers.SumRow says of a row's values for some tokens, tempered.
type rowSum struct {
	first     *int32 // of the tokens: slices of supports are shared, so that this names them
	n         int    // tokens
	temp      float64
	most, sum float64
}

// Sum is samplers.SumRow of dst, which has the tempered values of tokens. It is remembered with the
// row: chains meet in rows, and the sum takes longer than to copy them.
func (r Row) Sum(dst []float64, ids []int32, temp float64) (most, sum float64) {
	if len(ids) == 0 {
		return samplers.SumRow(dst)
	}
	s := r.sum.Load()
	if s == nil || s.first != &ids[0] || s.n != len(ids) || s.temp != temp {
		s = &rowSum{first: &ids[0], n: len(ids), temp: temp}
		s.most, s.sum = samplers.SumRow(dst)
		r.sum.Store(s)
	}
	return s.most, s.sum
}

// are reports whether the tokens that are kept are these, in this order.
func (k *kept) are(ids []int32) bool {
	if len(ids) != len(k.ids) {
		return false
	}
	if len(ids) == 0 || k.same == &ids[0] {
		return true
	}
	return slices.Equal(k.ids, ids)
}
