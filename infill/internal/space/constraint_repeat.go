package space

import "infill/infill/text"

// unrepeated allows no token that begins a word twice. Punctuation, and pieces
// inside words, may repeat. Tied blanks count once.
type unrepeated struct {
	free
	asked  bool
	bound  text.Boundary
	counts []int
}

func (u *unrepeated) together() bool {
	return u.asked && (len(u.counts) > 1 || severalTokens(u.counts))
}

func (u *unrepeated) allows(d *draft) bool {
	if !u.asked {
		return true
	}
	g, f := d.last()
	if u.counts[g] > 1 && u.twice(f, d.glued(g)) {
		return false
	}
	for h := range g {
		if u.share(f, d.glued(g), d.fillings[h], d.glued(h)) {
			return false
		}
	}
	return true
}

// share reports whether two fillings have a word's first token in common.
func (u *unrepeated) share(a []int32, aGlued bool, b []int32, bGlued bool) bool {
	for i, id := range a {
		for j, other := range b {
			if u.bound.Alike(id, other) && u.bound.Begins(a, i, aGlued) && u.bound.Begins(b, j, bGlued) {
				return true
			}
		}
	}
	return false
}

// twice reports whether a word's first token stands twice in a filling.
func (u *unrepeated) twice(f []int32, glued bool) bool {
	for i, id := range f {
		for j, other := range f[:i] {
			if u.bound.Alike(id, other) && u.bound.Begins(f, i, glued) && u.bound.Begins(f, j, glued) {
				return true
			}
		}
	}
	return false
}
