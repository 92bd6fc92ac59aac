package space

import (
	"infill/infill/text"
	"infill/tokenize"
)

// worded holds blanks whose count is of words to it: their fillings are whole words, as many as the
// blank says, each of at most text.MaxWordTokens tokens.
type worded struct{ base }

// wordKey stands for the answers at one slot: whether tokens go on with a word there.
type wordKey struct{ inside bool }

// alone judges the tokens of a single word.
func (w *worded) alone(s slot) (func(text.Phrase) bool, any) {
	switch {
	case s.MaxWords == 0:
		return nil, nil
	case s.list:
		return func(p text.Phrase) bool {
			n, fits := w.words(s.Group, p.IDs, s.forms)
			return fits && n >= s.MinWords
		}, nil
	case s.pos == 0 && s.forms[0] == tokenize.AfterLetter:
		return func(text.Phrase) bool { return false }, wordKey{false} // it begins no word
	case s.MaxWords > 1 || s.pos == 0:
		return nil, nil
	}
	return func(p text.Phrase) bool {
		return w.bound.GoesOn([]int32{0, p.IDs[0]}, 1)
	}, wordKey{true}
}

func (w *worded) judges(g, count int) bool { return w.t.Groups[g].MaxWords > 0 && count > 1 }

func (w *worded) allows(d *draft) bool {
	g, f := d.last()
	n, fits := w.words(&w.t.Groups[g], f, d.forms[g])
	if d.open {
		n += d.counts[g] - len(f)
	}
	return fits && n >= w.t.Groups[g].MinWords
}

// words is the number of words of a filling. fits says that none is too long, that they are not too
// many, and that the first begins in the blank.
func (w *worded) words(g *text.Group, f []int32, forms []tokenize.Place) (n int, fits bool) {
	tokens := 0
	fits = w.bound.Words(f, forms[0], func(word []int32) bool {
		n++
		tokens += len(word)
		return len(word) <= text.MaxWordTokens
	})
	return n, fits && n <= g.MaxWords && tokens == len(f)
}
