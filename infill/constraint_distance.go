package infill

// distant keeps fillings away from the words that stood in the blanks: their
// Levenshtein distance in characters, without regard to case, is at least least.
type distant struct {
	free
	least    int
	original []string // by blank
}

// distanceKey stands for the answers at one slot.
type distanceKey struct {
	original string
	least    int
}

func (d *distant) alone(s slot) (func(phrase) bool, any) {
	blank := s.g.blanks[0]
	if d.least <= 0 || blank >= len(d.original) {
		return nil, nil
	}
	word := d.original[blank]
	return func(p phrase) bool { return !nearer(p.text, word, d.least) }, distanceKey{word, d.least}
}

// nearer reports whether the Levenshtein distance between two words, in
// characters and without regard to case, is below d.
func nearer(a, b string, d int) bool { return editDistance(a, b, d) < d }
