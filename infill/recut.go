package infill

import (
	"cmp"
	"context"
	"math"
	"slices"

	"infill/infill/internal/recall"
	"infill/infill/internal/space"
	"infill/infill/text"
	"infill/mlm"
	"infill/tokenize"
)

// recut is Filling.Recut of a filling of the template.
func recut(t *text.Template, tok *tokenize.Tokenizer, f *Filling) bool {
	if f.Parts.finished {
		return false
	}
	s, _ := t.Stretch(f.lengths)
	for i, at := range s.Blanks {
		s.IDs[at] = f.ids[i]
	}
	enc, err := text.Encode(tok, text.End(f.Text, t.Shown), nil)
	return err != nil || !slices.Equal(enc.IDs, s.IDs)
}

// A finishedCut is a text with its blanks filled as the tokenizer cuts it by itself.
type finishedCut struct {
	s     *mlm.Sentence // masks are all pieces that have bytes of a filling
	state []int32
}

// touches reports whether letters or digits touch a blank.
func (t *target) touches() bool {
	return slices.ContainsFunc(t.Template.Places, func(p text.Place) bool {
		return p.Before+p.After != ""
	})
}

// isMark reports whether a filling does not end with a letter or digit of a word.
func isMark(word string) bool { return text.LettersBefore(word) == "" }

// between reports whether a filling decides how the letters around it are cut: a mark before
// letters ("5:30" has no ##30), and any entry of a list that touches letters.
func (t *target) between(f *Filling) bool {
	for g := range t.Groups {
		list := t.Coords[t.First[g]].Slot < 0
		for _, b := range t.Groups[g].Blanks {
			p := &t.Template.Places[b]
			mark := isMark(f.Text[f.Spans[b][0]:f.Spans[b][1]])
			if list && p.Before+p.After != "" || mark && p.After != "" {
				return true
			}
		}
	}
	return false
}

// finishedCut is how the tokenizer cuts a finished text: nil where it has the very pieces of the
// state, and where there is nothing to compare.
func (t *target) finishedCut(f *Filling) *finishedCut {
	w, shown := t.Template.Window, t.Template.Shown
	if shown != "" && w != [2]int{0, len(t.Template.Text)} {
		return nil // its end may not be in the window
	}
	w[1] += len(f.Text) - len(t.Template.Text)
	enc, err := text.Encode(t.Tokenizer(), text.End(f.Text[w[0]:w[1]], shown), nil)
	if err != nil || t.limit > 0 && len(enc.IDs) > t.limit {
		return nil
	}
	filled, _ := t.Template.Stretch(f.lengths)
	for i, at := range filled.Blanks {
		filled.IDs[at] = f.ids[i]
	}
	if slices.Equal(enc.IDs, filled.IDs) {
		return nil
	}
	c := &finishedCut{s: &mlm.Sentence{IDs: enc.IDs}}
	for p, id := range enc.IDs {
		if !enc.Special[p] && slices.ContainsFunc(f.Spans, func(s [2]int) bool {
			return max(enc.Spans[p][0]+w[0], s[0]) < min(enc.Spans[p][1]+w[0], s[1])
		}) {
			c.s.Blanks = append(c.s.Blanks, p)
			c.state = append(c.state, id)
		}
	}
	if len(c.state) == 0 {
		return nil
	}
	return c
}

// finishedParts hands take the parts of the fillings that decide how the letters around them are
// cut. They are the parts that scoring the finished text gives. rows is how many this takes.
func (t *target) finishedParts(ctx context.Context, m *recall.Recall, fillings []*Filling,
	by Scoring, take func(i int, p Parts)) (rows int, err error) {
	var some []*Filling
	var of []int
	for i, f := range fillings {
		if t.between(f) {
			some, of = append(some, f), append(of, i)
		}
	}
	return t.cutParts(ctx, m, some, by, func(i int, p Parts) { take(of[i], p) })
}

// cutParts is finishedParts of fillings that are known to decide it.
func (t *target) cutParts(ctx context.Context, m *recall.Recall, fillings []*Filling,
	by Scoring, take func(i int, p Parts)) (rows int, err error) {
	type group struct {
		s      *mlm.Sentence
		who    []int
		states [][]int32
	}
	groups := map[string]*group{}
	var order []*group
	for i, f := range fillings {
		c := t.finishedCut(f)
		if c == nil {
			continue // scored as it is
		}
		hidden := slices.Clone(c.s.IDs)
		for _, p := range c.s.Blanks {
			hidden[p] = t.Tokenizer().MaskID()
		}
		key := text.IDsKey(hidden)
		g := groups[key]
		if g == nil {
			g = &group{s: c.s}
			groups[key] = g
			order = append(order, g)
		}
		g.who, g.states = append(g.who, i), append(g.states, c.state)
	}
	for _, g := range order {
		ps, n, err := partsOf(ctx, m, t.Tokenizer().MaskID(), g.s, g.states, by)
		if err != nil {
			return 0, err
		}
		rows += n
		for j, i := range g.who {
			ps[j].finished, ps[j].Length = true, t.length
			take(i, ps[j])
		}
	}
	return rows, nil
}

// asFinished is the sentence in which the terms of a filling are asked for, made from the finished
// text. other says that it has other pieces in the blanks than the state, so that its score is
// computed once the terms of the state are known.
func (pt *seekPart) asFinished(l *space.Layout, f *Filling, state []int32) (s *mlm.Sentence,
	other bool) {
	if !pt.between(f) {
		return l.Sentence, false
	}
	c := pt.finishedCut(f)
	if c == nil || !slices.Equal(c.state, state) {
		return l.Sentence, c != nil
	}
	for _, at := range c.s.Blanks { // the same for all fillings that are cut alike
		c.s.IDs[at] = pt.Tokenizer().MaskID()
	}
	key := text.IDsKey(c.s.IDs)
	if pt.cuts[key] == nil {
		pt.cuts[key] = c.s
	}
	return pt.cuts[key], false
}

// likelyMarks is how many marks of a blank before letters are looked at.
const likelyMarks = 3

// marked are fillings like f with the likeliest marks in the blanks before letters, one at a time.
// Beams do not find them: they see what follows a blank as a part of its word.
func (s *seeker) marked(ctx context.Context, pt *seekPart, f *filled) ([]*filled, error) {
	var out []*filled
	for i := range pt.Coords {
		c := &pt.Coords[i]
		b := pt.Groups[c.Group].Blanks[0]
		if c.Slot != pt.Counts[c.Group]-1 || pt.Template.Places[b].After == "" {
			continue
		}
		var near []*filled
		var spelt []*Filling
		for v := range c.IDs {
			x := slices.Clone(f.x)
			if x[i] = int32(v); x[i] == f.x[i] || !isMark(pt.Word(x, c.Group)) || !pt.Valid(x) {
				continue
			}
			one := pt.spell(x, s.p.opt.Results.AsModel)
			one.Spans = one.Spans[b : b+1]
			spelt = append(spelt, &one)
			near = append(near, &filled{part: pt, x: x, key: pt.keyOf(x), near: -1, kept: true,
				guess: math.Inf(-1)})
		}
		if _, err := pt.cutParts(ctx, pt.model, spelt, ScorePLL, func(k int, p Parts) {
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
