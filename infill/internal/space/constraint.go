package space

import (
	"infill/infill/text"
	"infill/tokenize"
)

// A constraint takes fillings away. Adding one takes a type in a file of its
// own, or a function that makes a written, a line in constraintsOf, and where the user asks for it
// a field of request.WordOptions and a line of the table of settings. The energies and the samplers
// know nothing of it.
//
// A constraint has two sides, and may leave either to the embedded free. alone
// judges the filling of one blank, once for every token or phrase that might
// stand there. allows judges a whole state, every time that a sampler
// proposes one. Ties need neither: tied blanks are one variable.
type constraint interface {
	// alone returns what is to be asked of the fillings of a slot, and a key that
	// stands for the answers: equal keys, equal answers. Every constraint needs a
	// comparable key type of its own, or its keys equal those of another. nil: nothing.
	alone(s slot) (ask func(text.Phrase) bool, key any)
	// judges reports whether whole states are judged by the filling of group g, of count tokens, or
	// with 0 of its list.
	judges(g, count int) bool
	// allows reports whether the last group of a draft, which it judges, can be part of an
	// allowed state, given that the groups before it can.
	allows(d *draft) bool
}

// A base is what most constraints look at.
type base struct {
	free
	t     *text.Template
	bound text.Boundary
}

// finished is the last group of a draft and its filling, less a word that may still go on.
func (b *base) finished(d *draft) (g int, f []int32) {
	g, f = d.last()
	if !d.open {
		return g, f
	}
	end := len(f) - 1
	for end > 0 && b.bound.GoesOn(f, end) {
		end--
	}
	return g, f[:end]
}

// free is a constraint that excludes nothing.
type free struct{}

func (free) alone(slot) (func(text.Phrase) bool, any) { return nil, nil }
func (free) judges(int, int) bool                     { return false }
func (free) allows(*draft) bool                       { return true }

// A slot is where a token or a phrase may stand: token number pos of a group of
// count tokens, or the whole filling of a group that has a list.
type slot struct {
	*text.Group
	g          int              // its number
	forms      []tokenize.Place // of each blank of the group
	pos, count int
	vocab      text.Vocab // what may fill it
	list       bool
}

// several reports whether the group takes several tokens.
func (s *slot) several() bool { return !s.list && s.count > 1 }

// A draft is a state as far as it has been filled in: the fillings of the
// groups from the first on.
type draft struct {
	t        *text.Template
	forms    [][]tokenize.Place // of each group, one for each of its blanks
	counts   []int              // tokens of each group, 0 for a group with a list
	fillings [][]int32
	open     bool // the last filling may get further tokens
}

// last is the number of the group to be judged and its filling.
func (d *draft) last() (g int, f []int32) {
	g = len(d.fillings) - 1
	return g, d.fillings[g]
}

// glued is Glued of the place where the fillings of a group stand.
func (d *draft) glued(g int) bool { return d.t.Places[d.t.Groups[g].Blanks[0]].Glued }
