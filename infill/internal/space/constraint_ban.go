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
	if s.several() {
		return nil, nil
	}
	return func(p text.Phrase) bool { return !b.list.Holds(p.IDs) }, b.list
}

func (b *banned) judges(_, count int) bool { return count > 1 }

func (b *banned) allows(d *draft) bool {
	g, f := b.finished(d)
	return b.bound.Words(f, d.forms[g][0], func(word []int32) bool { return !b.list.Holds(word) })
}
