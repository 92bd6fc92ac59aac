package space

import "infill/infill/text"

// unrepeated allows no word twice. Punctuation, and pieces inside words, may repeat. Tied blanks
// count once.
type unrepeated struct {
	free
	base
	asked bool
}

func (u *unrepeated) together() bool {
	return u.asked && (len(u.counts) > 1 || u.several())
}

func (u *unrepeated) allows(d *draft) bool {
	if !u.asked {
		return true
	}
	g, f := d.last()
	if d.open {
		f = closed(u.bound, f)
	}
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

// share reports whether two fillings have a word in common.
func (u *unrepeated) share(a []int32, aGlued bool, b []int32, bGlued bool) bool {
	for i := range a {
		for j := range b {
			if u.same(a, i, b, j) && u.bound.Begins(a, i, aGlued) && u.bound.Begins(b, j, bGlued) {
				return true
			}
		}
	}
	return false
}

// same reports whether two fillings have the same pieces from tokens i and j to the ends of their
// words.
func (u *unrepeated) same(a []int32, i int, b []int32, j int) bool {
	for n := 0; ; n++ {
		inA := i+n < len(a) && (n == 0 || u.bound.GoesOn(a, i+n))
		inB := j+n < len(b) && (n == 0 || u.bound.GoesOn(b, j+n))
		switch {
		case inA != inB:
			return false
		case !inA:
			return true
		case !u.bound.Alike(a[i+n], b[j+n]):
			return false
		}
	}
}

// twice reports whether a word stands twice in a filling.
func (u *unrepeated) twice(f []int32, glued bool) bool {
	for i := range f {
		for j := range i {
			if u.same(f, i, f, j) && u.bound.Begins(f, i, glued) && u.bound.Begins(f, j, glued) {
				return true
			}
		}
	}
	return false
}

// elsewhere allows no word that the text has around its blanks, function words apart. It sees whole
// words, with the letters that touch the blank.
type elsewhere struct {
	base
	has   func(s string) bool // nil: it allows everything
	words string              // stands for what has answers
}

// elsewhereKey stands for the answers at one slot.
type elsewhereKey struct{ words, around string }

func newElsewhere(b base, r *Rules) *elsewhere {
	e := &elsewhere{base: b}
	if r.NoRepeat == text.RepeatText {
		e.has, e.words = b.t.Meant(r.Function)
	}
	return e
}

func (e *elsewhere) alone(s slot) (func(text.Phrase) bool, any) {
	if e.has == nil || !s.list && s.count > 1 {
		return nil, nil
	}
	key := elsewhereKey{words: e.words}
	places := e.t.PlacesIn(s.g)
	for _, p := range places {
		key.around += p.Before + "\x00" + p.After + "\x00"
	}
	return func(f text.Phrase) bool { return e.differs(f.Text, places) }, key
}

func (e *elsewhere) together() bool { return e.has != nil && e.several() }

func (e *elsewhere) allows(d *draft) bool {
	g, f := d.last()
	if e.has == nil || e.counts[g] < 2 {
		return true
	}
	if d.open {
		f = closed(e.bound, f)
	}
	return e.differs(e.bound.Join(f), e.t.PlacesIn(&e.t.Groups[g]))
}

// differs reports whether a filling makes none of the text's words, at each of some places.
func (e *elsewhere) differs(filling string, places []text.Place) bool {
	for _, p := range places {
		if e.has(p.Before + filling + p.After) {
			return false
		}
	}
	return true
}
