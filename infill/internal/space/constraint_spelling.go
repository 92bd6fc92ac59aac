package space

import (
	"slices"

	"infill/infill/text"
	"infill/tokenize"
)

// spelling keeps, in blanks of several tokens, only the words that are cut as
// the tokenizer cuts them. A text is then one state and not several, and a
// score of the finished text finds the same tokens.
type spelling struct {
	base
	by *Supports
}

func (s *spelling) judges(_, count int) bool { return count > 1 }

func (s *spelling) allows(d *draft) bool {
	g, f := s.finished(d)
	return s.bound.Units(f, d.forms[g][0], s.by.isCanonical)
}

// numbered keeps the fillings before a number that the tokenizer cuts off from
// it. "page" and "1" in "[MASK]1" are page and ##1, as in the text page1, but
// "1" and "1" would be the number 11. (Before letters there is no such rule:
// "[MASK]s" takes dog, though dogs is a word of its own. Filling.Recut tells.)
type numbered struct {
	base
	by *Supports
}

// numberKey stands for the answers at one slot.
type numberKey struct {
	around string
	form   tokenize.Place
}

func (n *numbered) alone(s slot) (func(text.Phrase) bool, any) {
	around := n.around(s.g)
	if len(around) == 0 || s.list || s.several() {
		return nil, nil // an entry of a list is scored in the text that it makes
	}
	key := numberKey{form: s.forms[0]}
	for _, p := range around {
		key.around += text.IDsKey(p.Head) + "+" + text.IDsKey(p.Tail) + "-"
	}
	return func(p text.Phrase) bool {
		return n.apart(p.IDs, around, s.forms[0])
	}, key
}

func (n *numbered) judges(g, count int) bool { return count > 1 && len(n.around(g)) > 0 }

func (n *numbered) allows(d *draft) bool {
	g, f := d.last()
	return d.open || n.apart(f, n.around(g), d.forms[g][0])
}

// apart reports whether the tokenizer cuts a filling off from the number at each of some places.
func (n *numbered) apart(f []int32, around []text.Place, form tokenize.Place) bool {
	if word := n.bound.Join(f); text.LettersBefore(word) == "" {
		return true // a mark is scored in the text that it makes, where the number begins a word
	}
	for _, p := range around {
		if len(p.Head) > 0 { // the whole word is judged
			pieces := slices.Concat(p.Head, f, p.Tail)
			if !n.by.cutAs(p.Before+n.bound.Join(f)+p.After, pieces, n.formOf(p.Head[0])) {
				return false
			}
			continue
		}
		if !n.bound.Units(slices.Concat(f, p.Tail), form, n.by.isCanonical) {
			return false
		}
	}
	return true
}

// formOf is the place of a word that begins with a token.
func (n *numbered) formOf(id int32) tokenize.Place {
	if _, space := n.by.tok.Surface(id); n.by.tok.MarksSpaces() && !space {
		return tokenize.AfterSymbol
	}
	return tokenize.AfterSpace
}

// around are the places of a group that a number directly follows.
func (n *numbered) around(g int) []text.Place {
	return slices.DeleteFunc(n.t.PlacesIn(&n.t.Groups[g]), func(p text.Place) bool {
		return len(p.Tail) == 0
	})
}

// isCanonical reports whether the tokenizer, given the text that the pieces
// spell, makes these very pieces of it.
func (s *Supports) isCanonical(pieces []int32, at tokenize.Place) bool {
	return s.cutAs(s.bound.Join(pieces), pieces, at)
}

// cutAs reports whether the tokenizer makes these pieces of a text at a place.
func (s *Supports) cutAs(word string, pieces []int32, at tokenize.Place) bool {
	key := string(rune('0'+at)) + word + "\x00" + text.IDsKey(pieces)
	s.mu.Lock()
	ok, known := s.canonical[key]
	s.mu.Unlock()
	if known {
		return ok
	}
	enc, err := s.tok.Word(word, at)
	ok = err == nil && slices.Equal(enc.IDs, pieces)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.canonical) >= maxRemembered {
		clear(s.canonical)
	}
	s.canonical[key] = ok
	return ok
}
