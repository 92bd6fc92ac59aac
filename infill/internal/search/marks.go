package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"infill/infill/internal/space"
	"infill/infill/internal/target"
	"infill/infill/request"
	"infill/infill/text"
	"infill/mlm"
)

// asFinished is the sentence in which the terms of a filling are asked for, made from the finished
// text. other says that it has other pieces in the blanks than the state, so that its score is
// computed once the terms of the state are known.
func (pt *seekPart) asFinished(l *space.Layout, f *request.Filling, state []int32) (s *mlm.Sentence,
	other bool) {
	if !pt.Between(f) {
		return l.Sentence, false
	}
	c := pt.FinishedCut(f)
	if c == nil || !slices.Equal(c.State, state) {
		return l.Sentence, c != nil
	}
	for _, at := range c.Sentence.Blanks { // the same for all fillings that are cut alike
		c.Sentence.IDs[at] = pt.Tokenizer().MaskID()
	}
	key := text.IDsKey(c.Sentence.IDs)
	if pt.cuts[key] == nil {
		pt.cuts[key] = c.Sentence
	}
	return pt.cuts[key], false
}

// likelyMarks is how many marks of a blank before letters are looked at.
const likelyMarks = 3

// marked are fillings like f with the likeliest marks in the blanks before letters, one at a time.
// Beams do not find them: they see what follows a blank as a part of its word.
func (s *Seeker) marked(ctx context.Context, pt *seekPart, f *filled) ([]*filled, error) {
	var out []*filled
	for i := range pt.Coords {
		c := &pt.Coords[i]
		b := pt.Groups[c.Group].Blanks[0]
		if c.Slot != pt.Counts[c.Group]-1 || pt.Template.Places[b].After == "" {
			continue
		}
		var near []*filled
		var spelt []*request.Filling
		for v := range c.IDs {
			x := slices.Clone(f.x)
			if x[i] = int32(v); x[i] == f.x[i] || !target.IsMark(pt.Word(x, c.Group)) || !pt.Valid(x) {
				continue
			}
			one := pt.Spell(x, s.p.Opt.Results.AsModel)
			one.Spans = one.Spans[b : b+1]
			spelt = append(spelt, &one)
			near = append(near, &filled{part: pt, x: x, key: pt.keyOf(x), near: -1, kept: true,
				guess: math.Inf(-1)})
		}
		if _, err := pt.CutParts(ctx, pt.Model, spelt, request.ScorePLL, func(k int, p request.Parts) {
			near[k].guess = p.PLL
		}); err != nil {
			return nil, err
		}
		near = slices.DeleteFunc(near, func(n *filled) bool { return math.IsInf(n.guess, -1) })
		slices.SortStableFunc(near, func(a, b *filled) int { return cmp.Compare(b.guess, a.guess) })
		out = append(out, near[:min(len(near), likelyMarks)]...)
	}
	return out, nil
}
