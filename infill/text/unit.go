package text

import "slices"

// Unit says what a plain blank takes.
type Unit int

const (
	UnitPiece Unit = iota // one token
	UnitWord              // a word, of as many tokens as it has, see MaxWordTokens
)

// Names lists the words for the values of Unit, in their order.
func (Unit) Names() []string { return []string{"piece", "word"} }

// ofWords has the blank take some words.
func (b *Blank) ofWords(least, most int) {
	b.MinWords, b.MaxWords = least, most
	b.Min, b.Max = least, min(MaxWordTokens*most, MaxTokens)
}

// WithWords is the template with each plain blank that stands apart from other letters as a word.
func (t *Template) WithWords() *Template {
	out := *t
	out.Groups = slices.Clone(t.Groups)
	for g := range out.Groups {
		apart := !slices.ContainsFunc(t.PlacesIn(&t.Groups[g]), func(p Place) bool {
			return p.Before != "" || p.After != "" || p.Neighbour || p.Ideographs
		})
		if apart && t.Groups[g].bare() {
			out.Groups[g].ofWords(1, 1)
		}
	}
	return &out
}
