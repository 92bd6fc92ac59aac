package space

import (
	"infill/infill/text"
	"infill/tokenize"
)

// distant keeps fillings away from the words that stood in the blanks: their
// Levenshtein distance in characters, without regard to case, is at least least, also from what the
// model reads of these words.
type distant struct {
	free
	least    int
	tok      *tokenize.Tokenizer
	original []string // by blank
}

// distanceKey stands for the answers at one slot.
type distanceKey struct {
	original string
	least    int
}

func (d *distant) alone(s slot) (func(text.Phrase) bool, any) {
	blank := s.g.Blanks[0]
	if d.least <= 0 || blank >= len(d.original) {
		return nil, nil
	}
	word := d.original[blank]
	key := distanceKey{word, d.least}
	read := text.AsRead(d.tok, word)
	return func(p text.Phrase) bool {
		return !nearer(p.Text, word, d.least) && !nearer(p.Text, read, d.least)
	}, key
}

// nearer reports whether the Levenshtein distance between two words, in
// characters and without regard to case, is below d.
func nearer(a, b string, d int) bool { return text.EditDistance(a, b, d) < d }
