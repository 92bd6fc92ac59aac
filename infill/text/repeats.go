package text

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Repeats says which words may fill a blank although they stand elsewhere in the finished text.
type Repeats int

const (
	RepeatAny Repeats = iota // all
	// RepeatBlanks: none with a meaning that another blank has, see [Template.Twice], where fillings
	// without one were found.
	RepeatBlanks
	RepeatText // none that another blank has, lists too, and none of the text that has a meaning
)

// Names lists the words for the values of Repeats, in their order.
func (Repeats) Names() []string { return []string{"off", "blanks", "text"} }

// Twice reports whether a word with a meaning stands in two blanks of a finished text. spans are
// the bytes of the blanks. A word with a meaning has two letters, one of them Latin, and is not
// among the function words, see [Template.FunctionWords]. Case does not count. Tied blanks may
// repeat, and so may those with lists of their own. "day by day" and "better and better" are
// English, see idiom. It is nil where nothing can.
func (t *Template) Twice(function *WordSet) func(text string, spans [][2]int) bool {
	free := 0
	for g := range t.Groups {
		if t.Groups[g].Words == nil {
			free++
		}
	}
	if free < 2 {
		return nil
	}
	function = t.FunctionWords(function)
	type place struct{ group, start, end int }
	return func(text string, spans [][2]int) bool {
		first := map[string]place{}
		for b, s := range spans {
			g := t.Owner[b]
			if t.Groups[g].Words != nil {
				continue
			}
			from := s[0] - len(LettersBefore(text[:s[0]]))
			parts := wordParts(text[from : s[1]+len(LettersAfter(text[s[1]:]))])
			covered := function.covered(parts)
			for i, p := range parts {
				at, met := first[p.lower]
				switch {
				case covered[i] || !meant(p.lower):
				case !met:
					first[p.lower] = place{g, from + p.start, from + p.end}
				case at.group != g && at.start != from+p.start && // not one word of two blanks
					!idiom(text[at.end:from+p.start], p.lower):
					return true
				}
			}
		}
		return false
	}
}

// idiom reports whether English says a word twice with this between.
func idiom(between, word string) bool {
	between = strings.TrimSpace(between)
	return steps[between] || between == "and" && rises[word]
}

// What stands between a word and itself: "day by day", "door to door"; and what stands so with
// "and" between. Other words with "and" are what the model makes of two blanks that it cannot tell
// apart: "friendly and friendly".
var (
	steps = setOf("after by to upon")
	rises = setOf("better bigger brighter closer colder darker days deeper easier farther faster " +
		"further greater harder heavier higher hotter hours larger lighter longer louder lower " +
		"miles narrower nearer older poorer quicker richer round shorter slower smaller softer " +
		"stronger taller thicker thinner tighter warmer weaker wider worse years younger")
)

// meant reports whether a word in lower case may have a meaning of its own.
func meant(word string) bool {
	latin := func(r rune) bool { return unicode.Is(unicode.Latin, r) }
	return utf8.RuneCountInString(word) > 1 && strings.IndexFunc(word, latin) >= 0
}

// Meant are the words around the blanks that have a meaning: those with a letter that are not among
// the function words, see [Template.FunctionWords]. has reports whether a text has one of them,
// without regard to case. It is nil if there are none. Equal keys have equal answers.
func (t *Template) Meant(function *WordSet) (has func(s string) bool, key string) {
	function = t.FunctionWords(function)
	words := map[string]bool{}
	from := 0
	for i := range len(t.Blanks) + 1 {
		to, before, after := len(t.Text), 0, 0
		if i > 0 {
			before = len(t.Places[i-1].After) // is part of a filled word
		}
		if i < len(t.Blanks) {
			to, after = t.Blanks[i].Start, len(t.Places[i].Before)
		}
		if from+before < to-after {
			t.meantIn(words, t.Text[from+before:to-after], function)
		}
		if i < len(t.Blanks) {
			from = t.Blanks[i].End
		}
	}
	if len(words) == 0 {
		return nil, ""
	}
	has = func(s string) bool {
		return slices.ContainsFunc(wordParts(s), func(p wordPart) bool { return words[p.lower] })
	}
	return has, strings.Join(slices.Sorted(maps.Keys(words)), " ")
}

// meantIn adds the words of a part of the text, as they are written and as the model reads them.
func (t *Template) meantIn(words map[string]bool, s string, function *WordSet) {
	parts := wordParts(s)
	covered := function.covered(parts)
	for i, p := range parts {
		if covered[i] || strings.IndexFunc(p.lower, unicode.IsLetter) < 0 {
			continue
		}
		words[p.lower] = true
		words[strings.ToLower(AsRead(t.Tok, s[p.start:p.end]))] = true
	}
}
