package space

import (
	"slices"

	"infill/infill/text"
	"infill/samplers"
	"infill/tokenize"
)

// A Coord is one coordinate of a chain's state: one token of a group of tied
// blanks, or the whole filling of a group that has a list.
type Coord struct {
	Group   int
	Slot    int           // number of the token in its blank; −1: the whole filling
	IDs     []int32       // category v is token IDs[v]
	Phrases []text.Phrase // category v is Phrases[v]
	Lengths []int         // the different lengths of the phrases
	AsGiven bool          // a phrase of the list has a capital: their case is their author's
}

// K is the number of categories.
func (c *Coord) K() int {
	if c.Slot < 0 {
		return len(c.Phrases)
	}
	return len(c.IDs)
}

// AddRow adds the value of a token to each category that has it, which are among phrases the ones
// of a length, whose token number slot is asked about.
func (c *Coord) AddRow(dst []float64, slot, length int, value func(id int32) float64) {
	for v, id := range c.IDs {
		dst[v] += value(id)
	}
	for v, p := range c.Phrases {
		if len(p.IDs) == length {
			dst[v] += value(p.IDs[slot])
		}
	}
}

// A Space is the set of states of a template under its constraints, for one
// choice of the lengths that the template leaves open:
//
//   - a coordinate per token, or per list, with the tokens or phrases that its
//     blanks allow: the domain of the samplers, a product;
//   - of these, the states for which Valid says yes.
//
// Its caches are for one goroutine, see Another.
type Space struct {
	supports *Supports
	Template *text.Template
	Groups   []text.Group
	First    []int // first coordinate of each group
	Counts   []int // tokens of each group; 0 where the filling decides
	Coords   []Coord
	Product  *samplers.Domain // of the coordinates
	joint    [][]constraint   // of each group, those that judge whole states by its filling
	tied     bool             // there are some
	forms    [][]tokenize.Place
	layouts  map[string]*Layout
	draft    draft     // scratch of Valid
	buffers  [][]int32 // scratch: the tokens of each group
}

// multiply makes the product of the coordinates.
func (sp *Space) multiply() (err error) {
	dims := make([]samplers.Coord, len(sp.Coords))
	for i := range sp.Coords {
		dims[i] = samplers.Coord{Kind: samplers.Nominal, K: sp.Coords[i].K()}
	}
	sp.Product, err = samplers.NewDomain(dims...)
	return err
}

// Keep leaves coordinate i the categories of numbers keep[i], which ascend.
func (sp *Space) Keep(keep [][]int) error {
	for i := range sp.Coords {
		c := &sp.Coords[i]
		// The lists of a space are shared: they are replaced, never changed.
		var ids []int32
		var phrases []text.Phrase
		for _, v := range keep[i] {
			if c.Slot < 0 {
				phrases = append(phrases, c.Phrases[v])
			} else {
				ids = append(ids, c.IDs[v])
			}
		}
		c.IDs, c.Phrases = ids, phrases
		if c.Slot < 0 {
			c.Lengths = lengthsOf(phrases)
		}
	}
	return sp.multiply()
}

// Another is the same space with scratch of its own, for use at the same time.
func (sp *Space) Another() *Space {
	other := *sp
	other.scratch()
	return &other
}

// Tokenizer is the tokenizer of the template's model.
func (sp *Space) Tokenizer() *tokenize.Tokenizer { return sp.supports.tok }

// Tied reports whether constraints exclude whole states.
func (sp *Space) Tied() bool { return sp.tied }

// TokenSets are the tokens that each coordinate can take: one set, or one for every phrase.
func (sp *Space) TokenSets() [][]int32 {
	var sets [][]int32
	for i := range sp.Coords {
		sets = append(sets, sp.Coords[i].IDs)
		for _, p := range sp.Coords[i].Phrases {
			sets = append(sets, p.IDs)
		}
	}
	return sets
}

// scratch gives the space caches and buffers of its own.
func (sp *Space) scratch() {
	sp.layouts = map[string]*Layout{}
	sp.draft = draft{t: sp.Template, forms: sp.forms, counts: sp.Counts}
	sp.buffers = make([][]int32, len(sp.Groups))
	for g := range sp.buffers {
		sp.buffers[g] = make([]int32, 0, text.MaxTokens)
	}
}

// lengthsOf lists the different lengths of phrases, in the order of the list.
func lengthsOf(list []text.Phrase) []int {
	var out []int
	for _, p := range list {
		if !slices.Contains(out, len(p.IDs)) {
			out = append(out, len(p.IDs))
		}
	}
	return out
}

// Filling returns the tokens of group g in state x, in buf or elsewhere.
func (sp *Space) Filling(g int, x []int32, buf []int32) []int32 {
	i := sp.First[g]
	if c := &sp.Coords[i]; c.Slot < 0 {
		return c.Phrases[x[i]].IDs
	}
	buf = buf[:0]
	for s := range sp.Counts[g] {
		buf = append(buf, sp.Coords[i+s].IDs[x[i+s]])
	}
	return buf
}

// Valid reports whether a state of the domain meets the constraints that concern
// several tokens at once.
func (sp *Space) Valid(x []int32) bool {
	if !sp.tied {
		return true
	}
	d := &sp.draft
	d.fillings, d.open = d.fillings[:0], false
	for g := range sp.Groups {
		d.fillings = append(d.fillings, sp.Filling(g, x, sp.buffers[g]))
		if !sp.allows(d) {
			return false
		}
	}
	return true
}

// Possible reports whether coordinates 0 … i of a state can belong to a valid
// one, given that coordinates 0 … i−1 can.
func (sp *Space) Possible(i int, x []int32) bool {
	if !sp.tied {
		return true
	}
	d := &sp.draft
	d.fillings, d.open = d.fillings[:0], false
	last := sp.Coords[i].Group
	for g := range last {
		d.fillings = append(d.fillings, sp.Filling(g, x, sp.buffers[g]))
	}
	f := sp.Filling(last, x, sp.buffers[last])
	if c := &sp.Coords[i]; c.Slot >= 0 {
		f = f[:c.Slot+1]
		d.open = len(f) < sp.Counts[last]
	}
	d.fillings = append(d.fillings, f)
	return sp.allows(d)
}

func (sp *Space) allows(d *draft) bool {
	return !slices.ContainsFunc(sp.joint[len(d.fillings)-1], func(c constraint) bool {
		return !c.allows(d)
	})
}
