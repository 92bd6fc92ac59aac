package infill

import (
	"context"

	"infill/mlm"
	"infill/samplers"
)

var _ samplers.RowConditioner = (*target)(nil)

// EnergyRows implements samplers.RowConditioner. The row of a coordinate that decides
// one token is what the model says of that token's place, with which the energy is
// known too. For tied blanks and lists it is what MaskedConditional says, and costs as
// much besides. Rows do not exclude what constraints forbid: that has U = −∞.
func (t *target) EnergyRows(ctx context.Context, x [][]int32, u []float64,
	rows [][]float64) error {
	t.sort(x, u, t.model.VocabSize())
	t.count()
	for k := range x {
		clear(rows[k])
	}
	var valid []int
	err := t.each(ctx, func(ctx context.Context, b *bucket) error {
		err := t.model.Gradient(ctx, b.lay.sentence, b.states, mlm.Forward, b.logProb, b.wide)
		if err != nil {
			return err
		}
		for j, k := range b.who {
			u[k] = total(b.logProb[j]) / t.temp
			for i := range t.coords {
				t.ownRow(rows[k][t.domain.RowOffset(i):], i, b.lay, b.wide[j])
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, b := range t.buckets {
		valid = append(valid, b.who...)
	}
	if err := t.sharedRows(ctx, x, valid, rows); err != nil {
		return err
	}
	return t.addTerms(ctx, x, u)
}

// own reports whether coordinate i decides a single token.
func (t *target) own(i int) bool {
	c := &t.coords[i]
	if len(t.groups[c.group].blanks) > 1 {
		return false
	}
	return c.slot >= 0 || len(c.lengths) == 1 && c.lengths[0] == 1
}

// ownRow fills the row of coordinate i, if it decides a single token, from a row of
// mask × vocabulary values.
func (t *target) ownRow(dst []float64, i int, l *layout, wide []float32) {
	if !t.own(i) {
		return
	}
	c := &t.coords[i]
	at := l.start[t.groups[c.group].blanks[0]] + max(c.slot, 0)
	row := wide[at*t.model.VocabSize():][:t.model.VocabSize()]
	for v, id := range c.ids {
		dst[v] = float64(row[id])
	}
	for v, p := range c.phrases {
		dst[v] = float64(row[p.ids[0]])
	}
	if t.temp == 1 {
		return
	}
	for v := range dst[:c.k()] {
		dst[v] /= t.temp
	}
}

// sharedRows fills the rows of the coordinates that decide several tokens, for the
// states of the given numbers.
func (t *target) sharedRows(ctx context.Context, x [][]int32, who []int,
	rows [][]float64) error {
	var states [][]int32
	var at []int
	var out [][]float64
	for i := range t.coords {
		if t.own(i) {
			continue
		}
		for _, k := range who {
			states, at = append(states, x[k]), append(at, i)
			out = append(out, rows[k][t.domain.RowOffset(i):][:t.coords[i].k()])
		}
	}
	if len(states) == 0 {
		return nil
	}
	if err := t.masked(ctx, states, at, out, false); err != nil {
		return err
	}
	t.countMasked()
	return nil
}
