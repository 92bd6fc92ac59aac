package infill

import (
	"context"
	"math"

	"infill/infill/internal/recall"
	"infill/samplers"
)

var _ samplers.RowSummer = (*target)(nil)

// EnergyRows implements samplers.RowConditioner. The row of a coordinate that decides
// one token is what the model says of that token's place, with which the energy is
// known too. For tied blanks and lists it is what MaskedConditional says, and costs as
// much besides. Rows do not exclude what constraints forbid: that has U = −∞.
func (t *target) EnergyRows(ctx context.Context, x [][]int32, u []float64,
	rows [][]float64) error {
	return t.energyRows(ctx, x, u, rows, false)
}

// EnergyRowSums implements samplers.RowSummer.
func (t *target) EnergyRowSums(ctx context.Context, x [][]int32, u []float64,
	rows [][]float64) error {
	return t.energyRows(ctx, x, u, rows, true)
}

// energyRows is EnergyRows, or with summed EnergyRowSums.
func (t *target) energyRows(ctx context.Context, x [][]int32, u []float64, rows [][]float64,
	summed bool) error {
	m := t.model.Counting()
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
		err := m.Rows(ctx, b.lay.Sentence, b.states, func(n recall.User, row recall.Row) {
			k := b.who[n.State]
			b.logProb[n.State][n.Blank] = row.Value(b.states[n.State][n.Blank])
			if i := decides[n.Blank]; i >= 0 {
				t.ownRow(rows[k], i, row, summed)
			}
		})
		if err != nil {
			return err
		}
		for j, k := range b.who {
			u[k] = total(b.logProb[j]) / t.temp
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
	if err := t.sharedRows(ctx, m, x, valid, rows, summed); err != nil {
		return err
	}
	return t.addTerms(ctx, x, u)
}

// ownRow fills the row of coordinate i, which decides a single token, and if summed its sum.
func (t *target) ownRow(rows []float64, i int, row recall.Row, summed bool) {
	c := &t.Coords[i]
	dst := rows[t.Product.RowOffset(i):][:c.K()]
	if c.Slot >= 0 {
		row.Spell(dst, c.IDs)
	} else {
		for v, p := range c.Phrases {
			dst[v] = float64(row.Value(p.IDs[0]))
		}
	}
	if t.temp != 1 {
		for v := range dst {
			dst[v] /= t.temp
		}
	}
	if !summed {
		return
	}
	sums := rows[t.Product.RowLen()+2*i:][:2]
	if c.Slot < 0 {
		sums[0], sums[1] = samplers.SumRow(dst)
	} else {
		sums[0], sums[1] = row.Sum(dst, c.IDs, t.temp)
	}
}

// sharedRows fills the rows of the coordinates that decide several tokens, and if summed their
// sums, for the states of the given numbers.
func (t *target) sharedRows(ctx context.Context, m *recall.Recall, x [][]int32, who []int,
	rows [][]float64, summed bool) error {
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
	if err := t.masked(ctx, m, states, at, out, len(t.Coords)); err != nil {
		return err
	}
	t.countMasked()
	if !summed {
		return nil
	}
	for j, i := range at {
		sums := rows[of[j]][t.Product.RowLen()+2*i:][:2]
		sums[0], sums[1] = samplers.SumRow(out[j])
	}
	return nil
}
