package target

import (
	"context"
	"math"

	"infill/infill/internal/recall"
	"infill/samplers"
)

// EnergyRows implements samplers.RowConditioner. The row of a coordinate that decides
// one token is what the model says of that token's place, with which the energy is
// known too. For tied blanks and lists it is what Conditional says, and costs as
// much besides. Rows do not exclude what constraints forbid: that has U = −∞.
func (t *Target) EnergyRows(ctx context.Context, x [][]int32, u []float64,
	rows, sums [][]float64) error {
	m := t.Model.Counting()
	t.sort(x, u, 0)
	t.count()
	for k := range x {
		for i := range t.Coords {
			if !t.Own(i) || math.IsInf(u[k], -1) { // others are written, and these added to
				clear(rows[k][t.Product.RowOffset(i):][:t.Coords[i].K()])
			}
		}
	}
	err := t.each(ctx, func(ctx context.Context, b *bucket) error {
		decides := t.Decides(b.lay)
		err := m.Rows(ctx, b.lay.Sentence, b.states, func(j, blank int, row recall.Row) {
			k := b.who[j]
			b.logProb[j][blank] = row.Value(b.states[j][blank])
			if i := decides[blank]; i >= 0 {
				t.ownRow(rows[k], i, row, sumOf(sums, k, i))
			}
		})
		if err != nil {
			return err
		}
		for j, k := range b.who {
			u[k] = total(b.logProb[j]) / t.Temp
		}
		return nil
	})
	if err != nil {
		return err
	}
	var valid []int
	for _, b := range t.buckets {
		valid = append(valid, b.who...)
	}
	if err := t.sharedRows(ctx, m, x, valid, rows, sums); err != nil {
		return err
	}
	return t.AddTerms(ctx, x, u, t.Temp)
}

// sumOf has room for the sum of coordinate i of state k, nil where sums are not asked for.
func sumOf(sums [][]float64, k, i int) []float64 {
	if sums == nil {
		return nil
	}
	return sums[k][2*i:][:2]
}

// ownRow fills the row of coordinate i, which decides a single token, and if sum is not nil its
// sum.
func (t *Target) ownRow(rows []float64, i int, row recall.Row, sum []float64) {
	c := &t.Coords[i]
	dst := rows[t.Product.RowOffset(i):][:c.K()]
	if c.Slot >= 0 {
		row.Spell(dst, c.IDs)
	} else {
		for v, p := range c.Phrases {
			dst[v] = float64(row.Value(p.IDs[0]))
		}
	}
	if t.Temp != 1 {
		for v := range dst {
			dst[v] /= t.Temp
		}
	}
	switch {
	case sum == nil:
	case c.Slot < 0:
		sum[0], sum[1] = samplers.SumRow(dst)
	default:
		sum[0], sum[1] = row.Sum(dst, c.IDs, t.Temp)
	}
}

// sharedRows fills the rows of the coordinates that decide several tokens, and if sums are not nil
// theirs, for the states of the given numbers.
func (t *Target) sharedRows(ctx context.Context, m *recall.Recall, x [][]int32, who []int,
	rows, sums [][]float64) error {
	var states [][]int32
	var at, of []int
	var out [][]float64
	for i := range t.Coords {
		if t.Own(i) {
			continue
		}
		for _, k := range who {
			states, at, of = append(states, x[k]), append(at, i), append(of, k)
			out = append(out, rows[k][t.Product.RowOffset(i):][:t.Coords[i].K()])
		}
	}
	if len(states) == 0 {
		return nil
	}
	if err := t.masked(ctx, m, states, at, out, nil); err != nil {
		return err
	}
	t.countMasked()
	if sums == nil {
		return nil
	}
	for j, i := range at {
		sum := sumOf(sums, of[j], i)
		sum[0], sum[1] = samplers.SumRow(out[j])
	}
	return nil
}
