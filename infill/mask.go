package infill

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"infill/samplers"
)

// Words returns the byte spans of the words of a text: what stands between
// white space, without punctuation at its ends. What consists of punctuation
// only is no word.
func Words(text string) [][2]int {
	var words [][2]int
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if unicode.IsSpace(r) {
			i += n
			continue
		}
		end := i + n
		for end < len(text) {
			r, n := utf8.DecodeRuneInString(text[end:])
			if unicode.IsSpace(r) {
				break
			}
			end += n
		}
		a := strings.IndexFunc(text[i:end], isWordRuneOrIdeograph)
		if a >= 0 {
			b := strings.LastIndexFunc(text[i:end], isWordRuneOrIdeograph)
			_, n := utf8.DecodeRuneInString(text[i+b:])
			words = append(words, [2]int{i + a, i + b + n})
		}
		i = end
	}
	return words
}

func isWordRuneOrIdeograph(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// MaskWords replaces words of a text without blanks, chosen at random, by
// [MASK]: the share rate of them, rounded, at least one (DLP, appendix I.6,
// masks 25 %). It returns the text and the words taken out, in order. The choice
// depends on text, seed and id only. Errors: ErrOption for a rate outside
// (0, 1], ErrBlank for a text with blanks, ErrEmpty for one without words.
func MaskWords(text string, rate float64, seed uint64, id string) (string, []string, error) {
	if !(rate > 0 && rate <= 1) {
		return "", nil, fmt.Errorf("%w: mask rate %v, want a number above 0 and at most 1", ErrOption, rate)
	}
	const blank = "[MASK]"
	blanks, err := findBlanks(text, blank)
	if err != nil {
		return "", nil, err
	}
	if len(blanks) > 0 {
		return "", nil, &TextError{blanks[0].Start, "a mask rate is for texts without blanks", ErrBlank}
	}
	words := Words(text)
	if len(words) == 0 {
		return "", nil, &TextError{-1, "there is no word to mask", ErrEmpty}
	}
	n := min(max(1, int(math.Round(rate*float64(len(words))))), len(words))
	chosen := samplers.NewStream(seed, id+"\x00mask", 0).Perm(len(words))[:n]
	sort.Ints(chosen)
	var b strings.Builder
	var taken []string
	last := 0
	for _, w := range chosen {
		b.WriteString(text[last:words[w][0]])
		b.WriteString(blank)
		taken = append(taken, text[words[w][0]:words[w][1]])
		last = words[w][1]
	}
	b.WriteString(text[last:])
	return b.String(), taken, nil
}
