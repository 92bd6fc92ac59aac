package space

import (
	"slices"
	"strings"
	"sync"

	"infill/infill/text"
	"infill/tokenize"
)

// Supports knows, for one tokenizer, the tokens that may fill each blank. It is
// safe for concurrent use.
type Supports struct {
	tok    *tokenize.Tokenizer
	bound  text.Boundary
	sorted text.Lists

	mu        sync.Mutex
	filtered  map[filterKey][]int32
	canonical map[string]bool // whether pieces are how the tokenizer spells their word
}

// filterKey names a support that was worked out once.
type filterKey struct {
	base *int32 // first element of the support it is taken from
	by   any    // the keys of all constraints, see joined
}

// joined is a key that stands for several: equal keys in the same order, equal joined keys.
func joined(keys []any) any {
	type pair struct{ before, last any }
	var all any
	for _, k := range keys {
		all = pair{all, k}
	}
	return all
}

// Bounds of the caches, which are emptied when full: a filtered support may
// be as large as the vocabulary.
const (
	maxFiltered   = 256
	maxRemembered = 1 << 14
)

// NewSupports sorts the vocabulary of a tokenizer.
func NewSupports(tok *tokenize.Tokenizer) *Supports {
	s := &Supports{
		tok: tok, bound: text.BoundaryOf(tok),
		filtered: map[filterKey][]int32{}, canonical: map[string]bool{},
	}
	s.sorted = s.bound.Sort()
	return s
}

// formsOf returns the forms of the blanks of a group, see boundary.
func (s *Supports) formsOf(t *text.Template, g *text.Group) ([]tokenize.Place, error) {
	forms, misfit := s.bound.Forms(t.PlacesIn(g))
	if misfit >= 0 {
		return nil, t.Unfillable(g.Blanks[misfit], "it is tied to a blank after a space, "+
			"but directly follows other text; this model's tokens are for one or the other")
	}
	return forms, nil
}

// slot returns what may stand at token number pos of a group that has count
// tokens.
func (s *Supports) slot(t *text.Template, g *text.Group, pos, count int, cs []constraint,
	v text.Vocab) ([]int32, error) {
	forms, err := s.formsOf(t, g)
	if err != nil {
		return nil, err
	}
	base := s.sorted.Then[v]
	if pos == 0 {
		base = s.sorted.First[v][forms[0]]
		for _, f := range forms {
			if f != forms[0] { // tied blanks, one of them inside a word
				base = slices.DeleteFunc(slices.Clone(base), func(id int32) bool {
					_, is := slices.BinarySearch(s.sorted.First[v][f], id)
					return !is
				})
			}
		}
	}
	if len(base) == 0 {
		return nil, t.Unfillable(g.Blanks[0], "the vocabulary holds nothing that fits there")
	}
	ids := s.filter(base, slot{t: t, g: g, forms: forms, pos: pos, count: count, vocab: v}, cs)
	if len(ids) == 0 {
		return nil, t.Unfillable(g.Blanks[0], "no token of the vocabulary meets all constraints; "+
			"loosen the expression, the ban, the vocabulary or the minimum distance")
	}
	return ids, nil
}

// NumberShare is what numbers have of what p gives to words and numbers at a blank, 0 to 1.
func (s *Supports) NumberShare(t *text.Template, blank int, p func(id int32) float64) (float64,
	error) {
	forms, err := s.formsOf(t, &t.Groups[t.Owner[blank]])
	if err != nil {
		return 0, err
	}
	return s.sorted.NumberShare(forms[0], p), nil
}

// filter keeps the tokens to which no constraint objects.
func (s *Supports) filter(base []int32, at slot, cs []constraint) []int32 {
	asks, keys := asked(cs, at)
	if len(asks) == 0 {
		return base
	}
	key := filterKey{base: &base[0], by: joined(keys)}
	s.mu.Lock()
	ids, ok := s.filtered[key]
	s.mu.Unlock()
	if ok {
		return ids
	}
	p := text.Phrase{IDs: make([]int32, 1)}
	for _, id := range base {
		p.IDs[0] = id
		p.Text, _ = s.tok.Surface(id)
		if allow(asks, p) {
			ids = append(ids, id)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.filtered) >= maxFiltered {
		clear(s.filtered)
	}
	s.filtered[key] = ids
	return ids
}

// asked collects what constraints ask of the fillings of a slot.
func asked(cs []constraint, at slot) (asks []func(text.Phrase) bool, keys []any) {
	for _, c := range cs {
		if ask, key := c.alone(at); ask != nil {
			asks, keys = append(asks, ask), append(keys, key)
		}
	}
	return asks, keys
}

func allow(asks []func(text.Phrase) bool, p text.Phrase) bool {
	for _, ask := range asks {
		if !ask(p) {
			return false
		}
	}
	return true
}

// phrases returns the fillings of a group with a list, of its own or from
// Options.Words.Allow. It returns nil, nil if the group has none.
func (s *Supports) phrases(t *text.Template, g *text.Group, cs []constraint,
	allowed *text.WordList) ([]text.Phrase, error) {
	if g.Words == nil && allowed == nil {
		return nil, nil
	}
	forms, err := s.formsOf(t, g)
	if err != nil {
		return nil, err
	}
	for i, f := range forms {
		if (f == tokenize.AfterSpace) != (forms[0] == tokenize.AfterSpace) {
			return nil, t.Unfillable(g.Blanks[i],
				"it is tied to a blank that stands apart, but goes on with a word")
		}
	}
	asks, _ := asked(cs, slot{t: t, g: g, forms: forms, list: true})
	var out []text.Phrase
	seen := map[string]bool{}
	keep := func(p text.Phrase, err error) error {
		k := text.IDsKey(p.IDs)
		fits := !g.Counted || len(p.IDs) >= g.Min && len(p.IDs) <= g.Max
		if err == nil && fits && !seen[k] {
			seen[k] = true
			out = append(out, p)
		}
		return err
	}
	if g.Words != nil {
		err = s.ownPhrases(g, forms[0], allowed, asks, keep)
	} else {
		for _, p := range allowed.Phrases() {
			if allow(asks, p) { // a list for all blanks need not fit into each
				_ = keep(s.respell(p, forms[0]))
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, t.Unfillable(g.Blanks[0], "no word of the list meets all constraints; "+
			"loosen the count, the expression, the list of allowed words, the ban or the minimum distance")
	}
	return out, nil
}

// ownPhrases gives keep the fillings that a blank itself lists.
func (s *Supports) ownPhrases(g *text.Group, form tokenize.Place, allowed *text.WordList,
	asks []func(text.Phrase) bool, keep func(text.Phrase, error) error) error {
	for _, w := range g.Words {
		// Constraints judge the word as it stands apart. "ing" need not be one.
		p, err := s.bound.Spell(w, tokenize.AfterSpace)
		if err != nil && form == tokenize.AfterSpace {
			return &text.Error{Offset: g.Start, Msg: err.Error(), Err: text.ErrBlank}
		}
		p.Text = strings.TrimSpace(w)
		if allowed != nil && !allowed.Holds(p.IDs) || !allow(asks, p) {
			continue
		}
		if err := keep(s.respell(p, form)); err != nil {
			return &text.Error{Offset: g.Start, Msg: err.Error(), Err: text.ErrBlank}
		}
	}
	return nil
}

// respell is a phrase with the tokens that it has in a form.
func (s *Supports) respell(p text.Phrase, form tokenize.Place) (text.Phrase, error) {
	if form == tokenize.AfterSpace {
		return p, nil
	}
	return s.bound.Spell(p.Text, form)
}
