package text

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Repeats says which words may fill a blank although they stand elsewhere in the finished text.
type Repeats int

const (
	RepeatAny   Repeats = iota // all
	RepeatNever                // none but function words of the text; tied blanks count once
	RepeatText                 // those around the blanks; none fills two that are not tied
)

// Names lists the words for the values of Repeats, in their order.
func (Repeats) Names() []string { return []string{"false", "true", "blanks"} }

// Meant are the words around the blanks that have a meaning: those with a letter that are not among
// the function words, nil for those of English. has reports whether a text has one of them, without
// regard to case. It is nil if there are none. Equal keys have equal answers.
func (t *Template) Meant(function *WordSet) (has func(s string) bool, key string) {
	if function == nil {
		function = englishStops()
	}
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
