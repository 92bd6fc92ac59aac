package search

import (
	"cmp"
	"container/heap"
	"context"
	"slices"

	"infill/infill/request"
)

// wideTop is how many words of a blank are looked at where parts of the energy judge words: the
// ones that they like may be unlikely to the model.
const wideTop = 200

// expand guesses the scores of the fillings that differ from a scored one in one coordinate.
func (s *Seeker) expand(ctx context.Context, f *filled) error {
	if err := s.Rows.Fetch(ctx, f.work.ask); err != nil { // those that are not held any more
		return err
	}
	shared := s.own(f)
	var at []int
	var other []*partial
	for i := range f.part.Coords {
		if shared[i] == nil {
			at = append(at, i)
			other = append(other, &partial{x: f.x, open: make([]bool, len(f.part.Coords))})
		}
	}
	if len(at) > 0 {
		rows, err := s.beside(ctx, f.part, other, at)
		if err != nil {
			return err
		}
		for k, i := range at {
			shared[i] = rows[k]
		}
	}
	for i, change := range shared {
		if err := s.expandAt(ctx, f, i, change); err != nil {
			return err
		}
	}
	return nil
}

// own has, for every coordinate that decides one token by itself, the sum of the terms at its place
// for each of its categories. Of others it is nil.
func (s *Seeker) own(f *filled) [][]float64 {
	pt, w := f.part, f.work
	decides := pt.Decides(w.lay)
	out := make([][]float64, len(pt.Coords))
	for j := range w.terms {
		i := decides[w.terms[j].At]
		if i < 0 {
			continue
		}
		row, _ := s.Rows.Row(w.ask[j])
		c := &pt.Coords[i]
		if out[i] == nil {
			out[i] = make([]float64, c.K())
		}
		weight := w.terms[j].Weight(s.p.Opt.Results.Score)
		c.AddRow(out[i], 0, 1, func(id int32) float64 { return weight * float64(row.Value(id)) })
	}
	return out
}

// expandAt guesses the fillings with another category of coordinate i. change has what the terms at
// its place are for each.
func (s *Seeker) expandAt(ctx context.Context, f *filled, i int, change []float64) error {
	pt, top := f.part, s.reach.top
	if len(pt.Coords) == 1 { // guessed once: of one token the guess is the score
		switch {
		case !pt.expanded:
			top, pt.expanded = pt.Coords[i].K(), true
		case pt.Own(i) && !pt.Touches():
			return nil
		}
	}
	judged := pt.Extra.Cheap()
	look := (top + 1) * looks(pt.Tied())
	if judged {
		look = max(look, wideTop)
	}
	var near []*filled
	for _, v := range mostLikely(change, look) {
		x := slices.Clone(f.x)
		x[i] = v
		if x[i] == f.x[i] || !pt.Valid(x) {
			continue
		}
		n := &filled{part: pt, x: x, key: pt.keyOf(x), near: f.work.placeOf(pt, i),
			guess: f.score - f.cheap + change[v] - change[f.x[i]]}
		near = append(near, n)
		if len(near) == top && !judged {
			break
		}
	}
	if judged {
		texts := make([]request.Filling, len(near))
		for k, n := range near {
			texts[k] = pt.Spell(n.x, s.p.Opt.Results.AsModel)
		}
		parts, err := s.energyParts(ctx, texts, false)
		if err != nil {
			return err
		}
		for k, n := range near {
			n.cheap += parts[k]
		}
	}
	for _, n := range near {
		n.guess += n.cheap
		if s.p.PerToken {
			n.guess /= float64(len(f.work.state)) // one token's change keeps the number of tokens
		}
	}
	slices.SortStableFunc(near, func(a, b *filled) int { return cmp.Compare(b.guess, a.guess) })
	for _, n := range near[:min(len(near), top)] {
		if known, met := s.seen[n.key]; !met || n.guess > known {
			s.seen[n.key] = n.guess
			heap.Push(&s.queue, n)
		}
	}
	return nil
}

// placeOf is the number of the first mask that a coordinate decides.
func (w *work) placeOf(pt *seekPart, i int) int {
	c := &pt.Coords[i]
	return w.lay.Start[pt.Groups[c.Group].Blanks[0]] + max(c.Slot, 0)
}
