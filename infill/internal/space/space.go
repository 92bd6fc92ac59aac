package space

import (
	"slices"
	"strings"
	"unicode"

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
	joint    []constraint     // that exclude whole states
	layouts  map[string]*Layout
	draft    draft     // scratch of Valid
	buffers  [][]int32 // scratch: the tokens of each group
}

// Lists finds the fillings of the groups that have a list.
func (s *Supports) Lists(t *text.Template, r *Rules) ([][]text.Phrase, error) {
	out := make([][]text.Phrase, len(t.Groups))
	cs := constraintsOf(s, t, make([]int, len(t.Groups)), r)
	for g := range t.Groups {
		var err error
		if out[g], err = s.phrases(t, &t.Groups[g], cs, r.Allow); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Space builds the space of a template whose group g has the phrases of
// lists[g] or, if there are none, counts[g] tokens.
func (s *Supports) Space(t *text.Template, lists [][]text.Phrase, counts []int,
	r *Rules) (*Space, error) {
	sp := &Space{supports: s, Template: t, Groups: t.Groups, Counts: make([]int, len(t.Groups))}
	for g := range t.Groups {
		if lists[g] == nil {
			sp.Counts[g] = counts[g]
		}
	}
	all := constraintsOf(s, t, sp.Counts, r)
	for _, c := range all {
		if c.together() {
			sp.joint = append(sp.joint, c)
		}
	}
	for g := range t.Groups {
		gr := &t.Groups[g]
		sp.First = append(sp.First, len(sp.Coords))
		if list := lists[g]; list != nil {
			capitals := slices.ContainsFunc(list, func(p text.Phrase) bool {
				return strings.ContainsFunc(p.Text, unicode.IsUpper)
			})
			sp.Coords = append(sp.Coords, Coord{
				Group: g, Slot: -1, Phrases: list, Lengths: lengthsOf(list), AsGiven: capitals,
			})
			continue
		}
		for slot := range counts[g] {
			ids, err := s.slot(t, gr, slot, counts[g], all, t.VocabOf(gr, r.Vocab, r.Original))
			if err != nil {
				return nil, err
			}
			sp.Coords = append(sp.Coords, Coord{Group: g, Slot: slot, IDs: ids})
		}
	}
	if err := sp.scratch(); err != nil {
		return nil, err
	}
	return sp, sp.multiply()
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
	_ = other.scratch() // the space was made, so it does not fail
	return &other
}

// Tokenizer is the tokenizer of the template's model.
func (sp *Space) Tokenizer() *tokenize.Tokenizer { return sp.supports.tok }

// Tied reports whether constraints exclude whole states.
func (sp *Space) Tied() bool { return len(sp.joint) > 0 }

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
func (sp *Space) scratch() error {
	sp.layouts = map[string]*Layout{}
	sp.draft = draft{t: sp.Template}
	sp.buffers = make([][]int32, len(sp.Groups))
	for g := range sp.Groups {
		forms, err := sp.supports.formsOf(sp.Template, &sp.Groups[g])
		if err != nil {
			return err
		}
		sp.draft.forms = append(sp.draft.forms, forms)
		sp.buffers[g] = make([]int32, 0, text.MaxTokens)
	}
	return nil
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
	if len(sp.joint) == 0 {
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
	if len(sp.joint) == 0 {
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
	for _, c := range sp.joint {
		if !c.allows(d) {
			return false
		}
	}
	return true
}
