package infill

import "strings"

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
func nearer(a, b string, d int) bool {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	if diff := len(x) - len(y); diff >= d || -diff >= d {
		return false
	}
	return levenshtein(x, y, d) < d
}

// levenshtein is the Levenshtein distance of two texts or, once it cannot be below limit, limit
// or more.
func levenshtein(x, y []rune, limit int) int {
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range x {
		diagonal, least := row[0], i+1
		row[0] = i + 1
		for j, s := range y {
			cost := diagonal
			if r != s {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
			least = min(least, cost)
		}
		if least >= limit {
			return least
		}
	}
	return row[len(y)]
}
