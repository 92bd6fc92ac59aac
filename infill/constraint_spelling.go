package infill

import (
	"slices"
	"unicode"

	"infill/tokenize"
)

// spelling keeps, in blanks of several tokens, only the words that are cut as
// the tokenizer cuts them. A text is then one state and not several, and a
// score of the finished text finds the same tokens.
type spelling struct {
	free
	*supports
	counts []int
}

func (s *spelling) together() bool { return severalTokens(s.counts) }

func (s *spelling) allows(d *draft) bool {
	g, f := d.last()
	if s.counts[g] < 2 {
		return true
	}
	if d.open {
		f = closed(s.bound, f)
	}
	return s.bound.units(f, d.forms[g][0], s.isCanonical)
}

// numbered keeps the fillings before a number that the tokenizer cuts off from
// it. "page" and "1" in "[MASK]1" are page and ##1, as in the text page1, but
// "1" and "1" would be the number 11. (Before letters there is no such rule:
// "[MASK]s" takes dog, though dogs is a word of its own.)
type numbered struct {
	*supports
	t      *Template
	counts []int
}

// numberKey stands for the answers at one slot.
type numberKey struct {
	tails string
	form  tokenize.Place
}

func (n *numbered) alone(s slot) (func(phrase) bool, any) {
	tails := n.tails(s.g)
	if len(tails) == 0 || !s.list && s.count > 1 {
		return nil, nil
	}
	key := numberKey{form: s.forms[0]}
	for _, tail := range tails {
		key.tails += idsKey(tail) + "-"
	}
	return func(p phrase) bool {
		if s.list {
			var err error
			if p, err = n.respell(p, s.forms[0]); err != nil {
				return true // not for this constraint to say
			}
		}
		return n.apart(p.ids, tails, s.forms[0])
	}, key
}

func (n *numbered) together() bool {
	for g := range n.t.groups {
		if n.counts[g] > 1 && len(n.tails(&n.t.groups[g])) > 0 {
			return true
		}
	}
	return false
}

func (n *numbered) allows(d *draft) bool {
	g, f := d.last()
	return n.counts[g] < 2 || d.open || n.apart(f, n.tails(&n.t.groups[g]), d.forms[g][0])
}

// apart reports whether the tokenizer cuts a filling off from each of the tails.
func (n *numbered) apart(f []int32, tails [][]int32, form tokenize.Place) bool {
	for _, tail := range tails {
		if !n.bound.units(slices.Concat(f, tail), form, n.isCanonical) {
			return false
		}
	}
	return true
}

// tails are the pieces of the numbers that directly follow the blanks of a group.
func (n *numbered) tails(g *group) [][]int32 {
	var out [][]int32
	for _, b := range g.blanks {
		if tail := n.t.places[b].tail; len(tail) > 0 {
			out = append(out, tail)
		}
	}
	return out
}

func beginsNumber(s string) bool { return unicode.IsDigit(firstRune(s)) }

// isCanonical reports whether the tokenizer, given the text that the pieces
// spell, makes these very pieces of it.
func (s *supports) isCanonical(pieces []int32, at tokenize.Place) bool {
	key := idsKey(pieces) + string(rune('0'+at))
	s.mu.Lock()
	ok, known := s.canonical[key]
	s.mu.Unlock()
	if known {
		return ok
	}
	enc, err := s.tok.Word(s.bound.join(pieces), at)
	ok = err == nil && slices.Equal(enc.IDs, pieces)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.canonical) >= maxRemembered {
		clear(s.canonical)
	}
	s.canonical[key] = ok
	return ok
}
