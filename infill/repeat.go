package infill

import (
	"strings"
	"unicode"
)

// RepeatPrior is what a content word in two blanks costs in ScoreBlended, in nats.
const RepeatPrior = 0.0

// repeats is Parts.Repeat of a state. Tied blanks are one. Words of a list are the author's choice
// and do not count.
func (t *target) repeats(x []int32) float64 {
	if RepeatPrior == 0 || len(t.groups) < 2 {
		return 0
	}
	var words []string
	for g := range t.groups {
		if t.coords[t.first[g]].slot >= 0 {
			words = append(words, t.word(x, g))
		}
	}
	return t.repeatsOf(words)
}

// repeatsOf is −RepeatPrior for every content word that stands in an earlier blank already. Which
// words are function words is known of English alone.
func (t *target) repeatsOf(words []string) float64 {
	if RepeatPrior == 0 || len(words) < 2 || !english(t.supports.tok) {
		return 0
	}
	n := 0
	met := map[string]bool{}
	for _, w := range words {
		if w = strings.ToLower(strings.TrimSpace(w)); content(w) {
			if met[w] {
				n++
			}
			met[w] = true
		}
	}
	return -RepeatPrior * float64(n)
}

// content reports whether a word is neither a function word nor without a letter.
func content(word string) bool {
	if strings.IndexFunc(word, unicode.IsLetter) < 0 {
		return false
	}
	parts, covered := EnglishStopWords().overWords(word, [][2]int{{0, len(word)}})
	return parts[0] > covered[0]
}
