package target

import (
	"context"
	"math"
	"slices"
	"sort"

	"infill/infill/internal/recall"
	"infill/infill/internal/space"
)

// ExactConditionals implements samplers.Conditioner: those of a masked model belong to no joint
// distribution.
func (t *Target) ExactConditionals() bool { return false }

// Conditional implements samplers.Conditioner. For tied blanks and
// lists, log f(v | …) is the sum over the tokens that the coordinate decides,
// all of them masked: a distribution that does not depend on its value.
func (t *Target) Conditional(ctx context.Context, x [][]int32, i []int, logp [][]float64) error {
	for k := range x {
		clear(logp[k][:t.Coords[i[k]].K()])
	}
	if err := t.masked(ctx, t.Model.Counting(), x, i, logp, nil); err != nil {
		return err
	}
	t.countMasked()
	for k := range x {
		t.Forbid(x[k], i[k], logp[k][:t.Coords[i[k]].K()])
	}
	return nil
}

// masked adds to out[k], for state x[k] and coordinate i[k], the tempered log
// f of every category, with everything that the coordinate decides masked, and all that the
// coordinates decide that are open; nil: none. m is the model, which counts rows or does not.
func (t *Target) masked(ctx context.Context, m *recall.Recall, x [][]int32, i []int,
	out [][]float64, open []bool) error {
	type request struct{ k, slot, length int }
	var asked []request
	t.reset()
	for k := range x {
		t.Hidden(x[k], i[k], open, func(l *space.Layout, state []int32, mask, slot, length int) {
			b := t.bucket(l)
			b.who, b.states = append(b.who, len(asked)), append(b.states, state)
			b.blanks = append(b.blanks, mask)
			asked = append(asked, request{k: k, slot: slot, length: length})
		})
	}
	for _, b := range t.buckets {
		b.wide = resized(b.wide, len(b.states), t.Model.VocabSize())
	}
	err := t.each(ctx, func(ctx context.Context, b *bucket) error {
		return m.Conditional(ctx, b.lay.Sentence, b.states, b.blanks, b.wide)
	})
	if err != nil {
		return err
	}
	for _, b := range t.buckets {
		for j, r := range b.who {
			q := asked[r]
			t.Coords[i[q.k]].AddRow(out[q.k], q.slot, q.length, func(id int32) float64 {
				return float64(b.wide[j][id]) / t.Temp
			})
		}
	}
	return nil
}

// Hidden calls ask for every mask that coordinate i decides, in a state with all masked that it
// decides, and that the open coordinates do; nil: none. A list has a state for every length of its
// phrases. slot is the token's number in the filling.
func (t *Target) Hidden(x []int32, i int, open []bool,
	ask func(l *space.Layout, state []int32, mask, slot, length int)) {
	c := &t.Coords[i]
	for _, n := range c.LengthsOr0() {
		var force *[2]int
		from, to := c.Slot, c.Slot+1
		if c.Slot < 0 {
			force, from, to = &[2]int{c.Group, n}, 0, n
		}
		l := t.LayoutOf(x, force)
		state := t.Tokens(nil, l, x, c.Group, c.Slot)
		t.HideOpen(state, l, open)
		for _, b := range t.Groups[c.Group].Blanks {
			for s := from; s < to; s++ {
				ask(l, state, l.Start[b]+s, s, n)
			}
		}
	}
}

// AllMasked is, for every coordinate, the tempered log f of its categories with all blanks masked.
func (t *Target) AllMasked(ctx context.Context) ([][]float64, error) {
	at, logp := make([]int, len(t.Coords)), make([][]float64, len(t.Coords))
	for i := range t.Coords {
		at[i], logp[i] = i, make([]float64, t.Coords[i].K())
	}
	open := slices.Repeat([]bool{true}, len(at))
	return logp, t.masked(ctx, t.Model, t.Shortest(), at, logp, open)
}

// Alone is what the model says of every coordinate with all blanks masked: log f of its categories,
// tempered, and cum for draws by bisection, the sums of f from the first category on. Gradients of
// lists need it to be asked.
func (t *Target) Alone(ctx context.Context) (cum, logp [][]float64, err error) {
	m := len(t.Coords)
	if logp, err = t.AllMasked(ctx); err != nil {
		return nil, nil, err
	}
	t.prior = make([][]float64, m)
	cum = make([][]float64, m)
	for i, lp := range logp {
		if t.Coords[i].Slot < 0 {
			t.prior[i] = make([]float64, len(lp))
			for v := range lp {
				t.prior[i][v] = lp[v] * t.Temp
			}
		}
		if err := t.Finite(i, lp); err != nil {
			return nil, nil, err
		}
		top := slices.Max(lp)
		sum := 0.0
		cum[i] = make([]float64, len(lp))
		for v, l := range lp {
			sum += math.Exp(l - top)
			cum[i][v] = sum
		}
	}
	return cum, logp, nil
}

// Restrict keeps, of every coordinate, the n categories that are likeliest
// with all blanks masked. The set is fixed before the first step, so that what
// a sampler leaves invariant is π on the states made of these candidates.
func (t *Target) Restrict(ctx context.Context, n int) error {
	logp, err := t.AllMasked(ctx)
	if err != nil {
		return err
	}
	keep := make([][]int, len(t.Coords))
	for i := range keep {
		all := make([]int, t.Coords[i].K())
		for v := range all {
			all[v] = v
		}
		sort.SliceStable(all, func(a, b int) bool { return logp[i][all[a]] > logp[i][all[b]] })
		keep[i] = all[:min(n, len(all))]
		slices.Sort(keep[i])
	}
	if err := t.Keep(keep); err != nil {
		return err
	}
	t.Model = t.Model.Keeping(t.TokenSets())
	return nil
}
