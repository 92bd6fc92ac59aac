package space

import (
	"infill/infill/text"
	"infill/mlm"
)

// A Layout is the sequence of a template with a number of mask tokens at each blank.
type Layout struct {
	Sentence *mlm.Sentence
	Lengths  []int // tokens of each group
	Start    []int // index, among the mask tokens, of each blank's first
}

// LayoutOf returns the layout of a state; force, if given, sets the length of
// one group: [2]int{group, length}.
func (sp *Space) LayoutOf(x []int32, force *[2]int) *Layout {
	var kb [64]byte
	key := kb[:0]
	for g := range sp.Groups {
		n, first := sp.Counts[g], sp.First[g]
		if c := &sp.Coords[first]; c.Slot < 0 {
			n = len(c.Phrases[x[first]].IDs)
		}
		if force != nil && force[0] == g {
			n = force[1]
		}
		key = append(key, byte(n))
	}
	if l, ok := sp.layouts[string(key)]; ok {
		return l
	}
	l := &Layout{Lengths: make([]int, len(sp.Groups))}
	for g := range l.Lengths {
		l.Lengths[g] = int(key[g])
	}
	l.Sentence, l.Start = sp.Template.Stretch(l.Lengths)
	sp.layouts[string(key)] = l
	return l
}

// Tokens writes the tokens of a state in the order of the layout's masks; the
// filling of group hide, if not −1, and its slot, if not −1, is replaced by
// the mask token.
func (sp *Space) Tokens(dst []int32, l *Layout, x []int32, hide, slot int) []int32 {
	mask := sp.supports.tok.MaskID()
	var buf [text.MaxTokens]int32
	dst = dst[:0]
	for range l.Sentence.Blanks {
		dst = append(dst, mask)
	}
	for g := range sp.Groups {
		if g == hide && slot < 0 {
			continue
		}
		f := sp.Filling(g, x, buf[:])
		for _, b := range sp.Groups[g].Blanks {
			copy(dst[l.Start[b]:], f)
			if g == hide {
				dst[l.Start[b]+slot] = mask
			}
		}
	}
	return dst
}

// Decides is, for every mask of a layout, the coordinate that decides this token alone, or −1.
func (sp *Space) Decides(l *Layout) []int {
	out := make([]int, len(l.Sentence.Blanks))
	for m := range out {
		out[m] = -1
	}
	for i := range sp.Coords {
		if c := &sp.Coords[i]; sp.Own(i) {
			out[l.Start[sp.Groups[c.Group].Blanks[0]]+max(c.Slot, 0)] = i
		}
	}
	return out
}

// Own reports whether coordinate i decides a single token.
func (sp *Space) Own(i int) bool {
	c := &sp.Coords[i]
	if len(sp.Groups[c.Group].Blanks) > 1 {
		return false
	}
	return c.Slot >= 0 || len(c.Lengths) == 1 && c.Lengths[0] == 1
}

// MasksOf lists the mask tokens of a layout that coordinate i decides.
func (sp *Space) MasksOf(i int, l *Layout) []int {
	var out []int
	c := &sp.Coords[i]
	from, to := c.Slot, c.Slot+1
	if c.Slot < 0 {
		from, to = 0, l.Lengths[c.Group]
	}
	for _, b := range sp.Groups[c.Group].Blanks {
		for s := from; s < to; s++ {
			out = append(out, l.Start[b]+s)
		}
	}
	return out
}

// LengthsOr0 are the lengths of the phrases of a list, and otherwise one that stands for itself.
func (c *Coord) LengthsOr0() []int {
	if c.Slot >= 0 {
		return []int{0}
	}
	return c.Lengths
}

// HideOpen masks, among the tokens of a state, what the open coordinates decide.
func (sp *Space) HideOpen(tokens []int32, l *Layout, open []bool) {
	mask := sp.supports.tok.MaskID()
	for i, hidden := range open {
		if hidden {
			for _, m := range sp.MasksOf(i, l) {
				tokens[m] = mask
			}
		}
	}
}
