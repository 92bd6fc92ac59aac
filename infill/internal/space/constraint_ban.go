package space

import "infill/infill/text"

// banned keeps words of a list out of the blanks. In a blank of one token that
// is the token, in a blank of several the words of it, and in a blank with a
// list the phrases.
type banned struct {
	base
	list *text.WordList
}

func (b *banned) alone(s slot) (func(text.Phrase) bool, any) {
	if b.list == nil || !s.list && s.count > 1 {
		return nil, nil
	}
	return func(p text.Phrase) bool { return !b.list.Holds(p.IDs) }, b.list
}

func (b *banned) together() bool { return b.list != nil && b.several() }

func (b *banned) allows(d *draft) bool {
	g, f := d.last()
	if b.list == nil || b.counts[g] < 2 {
		return true
	}
	if d.open {
		f = closed(b.bound, f)
	}
	return b.bound.Words(f, d.forms[g][0], func(word []int32) bool {
		return !b.list.Holds(word)
	})
}

// closed leaves out the last word of a filling, which may still go on.
func closed(b text.Boundary, f []int32) []int32 {
	end := len(f) - 1
	for end > 0 && b.GoesOn(f, end) {
		end--
	}
	return f[:end]
}
