package infill

import (
	"slices"
	"strings"
	"unicode"

	"infill/infill/internal/text"
	"infill/mlm"
	"infill/samplers"
)

// A coord is one coordinate of a chain's state: one token of a group of tied
// blanks, or the whole filling of a group that has a list.
type coord struct {
	group   int
	slot    int           // number of the token in its blank; −1: the whole filling
	ids     []int32       // category v is token ids[v]
	phrases []text.Phrase // category v is phrase v
	lengths []int         // the different lengths of the phrases
	asGiven bool          // a phrase of the list has a capital: their case is their author's
}

func (c *coord) k() int {
	if c.slot < 0 {
		return len(c.phrases)
	}
	return len(c.ids)
}

// A space is the set of states of a template under its constraints, for one
// choice of the lengths that the template leaves open:
//
//   - a coordinate per token, or per list, with the tokens or phrases that its
//     blanks allow: the domain of the samplers, a product;
//   - of these, the states for which valid says yes.
type space struct {
	supports *supports
	t        *text.Template
	groups   []text.Group
	first    []int // first coordinate of each group
	counts   []int // tokens of each group; 0 where the filling decides
	coords   []coord
	domain   *samplers.Domain
	joint    []constraint // that exclude whole states
	layouts  map[string]*layout
	draft    draft     // scratch of valid
	buffers  [][]int32 // scratch: the tokens of each group
}

// A layout is the sequence of a template with a number of mask tokens at each blank.
type layout struct {
	sentence *mlm.Sentence
	lengths  []int // tokens of each group
	start    []int // index, among the mask tokens, of each blank's first
}

// listed finds the fillings of the groups that have a list.
func (s *supports) listed(t *text.Template, r *rules) ([][]text.Phrase, error) {
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

// newSpace builds the space of a template whose group g has the phrases of
// lists[g] or, if there are none, counts[g] tokens.
func newSpace(s *supports, t *text.Template, lists [][]text.Phrase, counts []int,
	r *rules) (*space, error) {
	sp := &space{supports: s, t: t, groups: t.Groups, counts: make([]int, len(t.Groups))}
	for g := range t.Groups {
		if lists[g] == nil {
			sp.counts[g] = counts[g]
		}
	}
	all := constraintsOf(s, t, sp.counts, r)
	for _, c := range all {
		if c.together() {
			sp.joint = append(sp.joint, c)
		}
	}
	for g := range t.Groups {
		gr := &t.Groups[g]
		sp.first = append(sp.first, len(sp.coords))
		if list := lists[g]; list != nil {
			sp.coords = append(sp.coords, coord{
				group: g, slot: -1, phrases: list, lengths: lengthsOf(list), asGiven: capitals(list),
			})
			continue
		}
		for slot := range counts[g] {
			ids, err := s.slot(t, gr, slot, counts[g], all, r.Vocab)
			if err != nil {
				return nil, err
			}
			sp.coords = append(sp.coords, coord{group: g, slot: slot, ids: ids})
		}
	}
	if err := sp.scratch(); err != nil {
		return nil, err
	}
	dims := make([]samplers.Coord, len(sp.coords))
	for i := range sp.coords {
		dims[i] = samplers.Coord{Kind: samplers.Nominal, K: sp.coords[i].k()}
	}
	var err error
	sp.domain, err = samplers.NewDomain(dims...)
	return sp, err
}

// tokenSets are the tokens that each coordinate can take: one set, or one for every phrase.
func (sp *space) tokenSets() [][]int32 {
	var sets [][]int32
	for i := range sp.coords {
		sets = append(sets, sp.coords[i].ids)
		for _, p := range sp.coords[i].phrases {
			sets = append(sets, p.IDs)
		}
	}
	return sets
}

// scratch gives the space caches and buffers of its own.
func (sp *space) scratch() error {
	sp.layouts = map[string]*layout{}
	sp.draft = draft{t: sp.t}
	sp.buffers = make([][]int32, len(sp.groups))
	for g := range sp.groups {
		forms, err := sp.supports.formsOf(sp.t, &sp.groups[g])
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

// capitals reports whether a phrase of a list has a capital.
func capitals(list []text.Phrase) bool {
	return slices.ContainsFunc(list, func(p text.Phrase) bool {
		return strings.ContainsFunc(p.Text, unicode.IsUpper)
	})
}

// filling returns the tokens of group g in state x, in buf or elsewhere.
func (sp *space) filling(g int, x []int32, buf []int32) []int32 {
	i := sp.first[g]
	if c := &sp.coords[i]; c.slot < 0 {
		return c.phrases[x[i]].IDs
	}
	buf = buf[:0]
	for s := range sp.counts[g] {
		buf = append(buf, sp.coords[i+s].ids[x[i+s]])
	}
	return buf
}

// layoutOf returns the layout of a state; force, if given, sets the length of
// one group: [2]int{group, length}.
func (sp *space) layoutOf(x []int32, force *[2]int) *layout {
	var kb [64]byte
	key := kb[:0]
	for g := range sp.groups {
		key = append(key, byte(sp.lengthOf(g, x, force)))
	}
	if l, ok := sp.layouts[string(key)]; ok {
		return l
	}
	l := &layout{lengths: make([]int, len(sp.groups))}
	for g := range l.lengths {
		l.lengths[g] = int(key[g])
	}
	l.sentence, l.start = stretch(sp.t, sp.groups, l.lengths)
	sp.layouts[string(key)] = l
	return l
}

func (sp *space) lengthOf(g int, x []int32, force *[2]int) int {
	if force != nil && force[0] == g {
		return force[1]
	}
	if c := &sp.coords[sp.first[g]]; c.slot < 0 {
		return len(c.phrases[x[sp.first[g]]].IDs)
	}
	return sp.counts[g]
}

// stretch makes the sequence in which the blanks of group g are lengths[g]
// mask tokens, and says which of the masks each blank begins with.
func stretch(t *text.Template, gs []text.Group, lengths []int) (*mlm.Sentence, []int) {
	per := make([]int, len(t.Blanks))
	for g := range gs {
		for _, b := range gs[g].Blanks {
			per[b] = lengths[g]
		}
	}
	s := &mlm.Sentence{}
	start := make([]int, len(t.Blanks))
	last := 0
	for b, bl := range t.Blanks {
		s.IDs = append(s.IDs, t.IDs[last:bl.Pos]...)
		last = bl.Pos + 1
		start[b] = len(s.Blanks)
		for range per[b] {
			s.Blanks = append(s.Blanks, len(s.IDs))
			s.IDs = append(s.IDs, t.IDs[bl.Pos])
		}
	}
	s.IDs = append(s.IDs, t.IDs[last:]...)
	return s, start
}

// tokens writes the tokens of a state in the order of the layout's masks; the
// filling of group hide, if not −1, and its slot, if not −1, is replaced by
// the mask token.
func (sp *space) tokens(dst []int32, l *layout, x []int32, hide, slot int) []int32 {
	mask := sp.supports.tok.MaskID()
	var buf [text.MaxTokens]int32
	dst = dst[:0]
	for range l.sentence.Blanks {
		dst = append(dst, mask)
	}
	for g := range sp.groups {
		if g == hide && slot < 0 {
			continue
		}
		f := sp.filling(g, x, buf[:])
		for _, b := range sp.groups[g].Blanks {
			copy(dst[l.start[b]:], f)
			if g == hide {
				dst[l.start[b]+slot] = mask
			}
		}
	}
	return dst
}

// hide masks, among the tokens of a state, what coordinates from number open on decide.
func (sp *space) hide(tokens []int32, l *layout, open int) {
	for i := open; i < len(sp.coords); i++ {
		c := &sp.coords[i]
		from, to := c.slot, c.slot+1
		if c.slot < 0 {
			from, to = 0, l.lengths[c.group]
		}
		for _, b := range sp.groups[c.group].Blanks {
			for s := from; s < to; s++ {
				tokens[l.start[b]+s] = sp.supports.tok.MaskID()
			}
		}
	}
}

// valid reports whether a state of the domain meets the constraints that concern
// several tokens at once.
func (sp *space) valid(x []int32) bool {
	if len(sp.joint) == 0 {
		return true
	}
	d := &sp.draft
	d.fillings, d.open = d.fillings[:0], false
	for g := range sp.groups {
		d.fillings = append(d.fillings, sp.filling(g, x, sp.buffers[g]))
		if !sp.allows(d) {
			return false
		}
	}
	return true
}

// possible reports whether coordinates 0 … i of a state can belong to a valid
// one, given that coordinates 0 … i−1 can.
func (sp *space) possible(i int, x []int32) bool {
	if len(sp.joint) == 0 {
		return true
	}
	d := &sp.draft
	d.fillings, d.open = d.fillings[:0], false
	last := sp.coords[i].group
	for g := range last {
		d.fillings = append(d.fillings, sp.filling(g, x, sp.buffers[g]))
	}
	f := sp.filling(last, x, sp.buffers[last])
	if c := &sp.coords[i]; c.slot >= 0 {
		f = f[:c.slot+1]
		d.open = len(f) < sp.counts[last]
	}
	d.fillings = append(d.fillings, f)
	return sp.allows(d)
}

func (sp *space) allows(d *draft) bool {
	for _, c := range sp.joint {
		if !c.allows(d) {
			return false
		}
	}
	return true
}
