package infill

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"infill/infill/internal/recall"
	"infill/infill/internal/space"
	"infill/samplers"
)

// Confident fills the surest blank first: the one whose likeliest token is the most probable, given
// the blanks that are filled, gets this token, and the others stay masked. So masked diffusion
// models are decoded, see StartConfident, here with one token a step and no noise. That is the
// first filling. The others are the best of a beam of Options.Results.Top fillings, each with its
// own surest blank next. Filling.Score is the sum of the logarithms of these conditionals, in nats.
// Errors and options are those of Alone.
func (e *Engine) Confident(ctx context.Context, t *Template, opt Options) (*Result, error) {
	return e.plainly(ctx, t, opt, (*target).confident)
}

// An unmasking is a state some of whose coordinates are still open.
type unmasking struct {
	scored
	open []bool
}

// fill returns the unmasking with coordinate i filled.
func (u *unmasking) fill(i int, v int32, logp float64) *unmasking {
	next := &unmasking{scored{slices.Clone(u.x), u.sum + logp}, slices.Clone(u.open)}
	next.x[i], next.open[i] = v, false
	return next
}

// confident lists the state that is surest by surest choices, and then those of a beam.
func (t *target) confident(ctx context.Context, n int, done func(scored) bool) error {
	first := &unmasking{scored{x: t.Shortest()[0]}, t.openFrom(0, 1)[0]}
	lead, beam := []*unmasking{first}, []*unmasking{first}
	for range t.Coords {
		if len(lead)+len(beam) == 0 {
			break
		}
		rows, err := t.openRows(ctx, t.model.Counting(), slices.Concat(lead, beam))
		if err != nil {
			return err
		}
		t.countMasked()
		k := len(lead)
		if lead, err = t.surest(ctx, lead, rows[:k], 1); err != nil {
			return err
		}
		if beam, err = t.surest(ctx, beam, rows[k:], n); err != nil {
			return err
		}
	}
	if len(lead)+len(beam) == 0 { // rules that concern several blanks leave nothing
		return t.greedy(ctx, n, done)
	}
	for _, u := range append(lead, beam...) {
		if done(u.scored) {
			break
		}
	}
	return nil
}

// surest fills the surest open coordinate of each state, and returns the n best states that come of
// it, each once, best first.
func (t *target) surest(ctx context.Context, from []*unmasking, rows [][][]float64, n int) (
	[]*unmasking, error) {
	var out []*unmasking
	at := map[string]int{} // where a state stands in out
	floor := math.Inf(-1)  // the sum of the n-th best
	for k, u := range from {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		i := surestOf(rows[k])
		order := space.Likely{LogP: rows[k][i]}
		for r := range min(n, len(rows[k][i])) {
			v := order.At(r)
			sum := u.sum + rows[k][i][v]
			if math.IsInf(rows[k][i][v], -1) || sum < floor {
				break // nor what follows
			}
			next := u.fill(i, v, rows[k][i][v])
			key := next.key()
			if o, seen := at[key]; seen {
				out[o].sum = max(out[o].sum, sum)
				continue
			}
			at[key] = len(out)
			out = append(out, next)
		}
		if len(out) < 2*n && k > 0 && k < len(from)-1 {
			continue
		}
		slices.SortStableFunc(out, func(a, b *unmasking) int { return cmp.Compare(b.sum, a.sum) })
		if out = out[:min(len(out), n)]; len(out) == n {
			floor = out[n-1].sum
		}
		clear(at)
		for o, s := range out {
			at[s.key()] = o
		}
	}
	return out, nil
}

// surestOf is the coordinate whose likeliest category is the most probable, of those with a row.
func surestOf(rows [][]float64) int {
	i, best := -1, math.Inf(-1)
	for c, row := range rows {
		if row == nil {
			continue
		}
		if top := slices.Max(row); i < 0 || top > best {
			i, best = c, top
		}
	}
	return i
}

// key names a state.
func (u *unmasking) key() string {
	b := make([]byte, 0, 5*len(u.x))
	for i, v := range u.x {
		if u.open[i] {
			v = -1
		}
		b = binary.AppendVarint(b, int64(v))
	}
	return string(b)
}

// openRows is what the model says of the open coordinates of each state: by state and coordinate
// tempered log f of its categories, nil for one that is filled. Where a single one is open, what
// rules about several blanks forbid is −∞.
func (t *target) openRows(ctx context.Context, m *recall.Recall, of []*unmasking) ([][][]float64,
	error) {
	var x [][]int32
	var open [][]bool
	var at []int
	var flat [][]float64
	out := make([][][]float64, len(of))
	for k, u := range of {
		out[k] = make([][]float64, len(t.Coords))
		for i, o := range u.open {
			if o {
				out[k][i] = make([]float64, t.Coords[i].K())
				x, open, at, flat = append(x, u.x), append(open, u.open), append(at, i), append(flat, out[k][i])
			}
		}
	}
	if err := t.masked(ctx, m, x, at, flat, open); err != nil {
		return nil, err
	}
	for j, i := range at {
		if err := t.Finite(i, flat[j]); err != nil {
			return nil, err
		}
		if last := slices.Index(open[j], true); last == i && !slices.Contains(open[j][i+1:], true) {
			t.Forbid(x[j], i, flat[j])
		}
	}
	return out, nil
}

// unmasked makes the states of StartConfident. logp is what the model says with all blanks masked.
func (t *target) unmasked(ctx context.Context, opt *Options, id string, n int, logp [][]float64) (
	[][]int32, error) {
	of, rng := make([]*unmasking, n), make([]*rand.Rand, n)
	for k := range of {
		of[k] = &unmasking{scored{x: t.Shortest()[0]}, t.openFrom(0, 1)[0]}
		rng[k] = samplers.NewStream(opt.Seed, id+"\x00start", k)
	}
	rows := slices.Repeat([][][]float64{logp}, n)
	for step := range t.Coords {
		if step > 0 {
			var err error
			if rows, err = t.openRows(ctx, t.model, of); err != nil {
				return nil, err
			}
		}
		for k, u := range of {
			of[k] = t.keepSurest(rng[k], u, rows[k])
		}
	}
	x := make([][]int32, n)
	for k, u := range of {
		x[k] = u.x
		if !t.Valid(x[k]) {
			if err := t.Find(rng[k], logp, x[k]); err != nil {
				return nil, err
			}
		}
	}
	return x, nil
}

// keepSurest draws a category for every open coordinate, and fills the one with the likeliest draw.
func (t *target) keepSurest(rng *rand.Rand, u *unmasking, rows [][]float64) *unmasking {
	at, kept, best := slices.Index(u.open, true), int32(0), math.Inf(-1)
	for i, o := range u.open {
		if !o {
			continue
		}
		if v, lp, ok := space.Pick(rng, rows[i]); ok && lp > best {
			at, kept, best = i, v, lp
		}
	}
	return u.fill(at, kept, best)
}
