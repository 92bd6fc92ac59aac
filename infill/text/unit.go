package text

import "slices"

// Unit says what a plain blank takes.
type Unit int

const (
	UnitPiece  Unit = iota // one token
	UnitWord               // a word, of as many tokens as it has, see MaxWordTokens
	UnitPhrase             // a phrase of one to eight tokens, as [MASK*] takes
)

// Names lists the words for the values of Unit, in their order.
func (Unit) Names() []string { return []string{"piece", "word", "phrase"} }

// With is the template with each plain blank that stands apart from other letters as one that takes
// this.
func (t *Template) With(u Unit) *Template {
	if u == UnitPiece {
		return t
	}
	out := *t
	out.Groups = slices.Clone(t.Groups)
	for g := range out.Groups {
		switch b := &out.Groups[g]; {
		case !b.bare() || !t.wordsApart(b):
		case u == UnitWord:
			b.ofWords(1, 1)
		default:
			b.Counted, b.Min, b.Max = true, 1, phraseTokens
		}
	}
	return &out
}
