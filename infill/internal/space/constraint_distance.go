package space

import "infill/infill/text"

// distant keeps fillings away from the words that stood in the blanks: their
// Levenshtein distance in characters, without regard to case, is at least least, also from what the
// model reads of these words.
type distant struct {
	base
	least    int
	original []string // by blank
}

// distanceKey stands for the answers at one slot.
type distanceKey struct {
	original string
	least    int
}

func (d *distant) alone(s slot) (func(text.Phrase) bool, any) {
	blank := s.g.Blanks[0]
	if d.least <= 0 || blank >= len(d.original) || !s.list && s.count > 1 {
		return nil, nil
	}
	far := d.far(d.original[blank])
	return func(p text.Phrase) bool { return far(p.Text) }, distanceKey{d.original[blank], d.least}
}

// far is what is asked of a filling in the place of a word.
func (d *distant) far(word string) func(filling string) bool {
	read := text.AsRead(d.t.Tok, word)
	return func(s string) bool { return !nearer(s, word, d.least) && !nearer(s, read, d.least) }
}

func (d *distant) together() bool {
	return d.least > 0 && d.original != nil && d.several()
}

// allows judges the fillings of several tokens.
func (d *distant) allows(dr *draft) bool {
	g, f := dr.last()
	blank := d.t.Groups[g].Blanks[0]
	if dr.open || d.counts[g] < 2 || d.least <= 0 || blank >= len(d.original) {
		return true
	}
	return d.far(d.original[blank])(d.bound.Join(f))
}

// nearer reports whether the Levenshtein distance between two words, in
// characters and without regard to case, is below d.
func nearer(a, b string, d int) bool { return text.EditDistance(a, b, d) < d }
