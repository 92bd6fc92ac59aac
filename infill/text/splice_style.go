package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"infill/internal/truecase"
)

// A wordCase is how a word is written.
type wordCase int

const (
	noCase wordCase = iota // no letters, I, and abbreviations such as U.S.: any word has its own
	lowerCase
	titleCase // the first letter only
	upperCase // two letters or more
	mixedCase // such as iPhone
)

// caseOf is how a word is written.
func caseOf(word string) wordCase {
	letters, capitals := 0, 0
	for _, r := range word {
		if unicode.IsLetter(r) {
			letters++
		}
		if unicode.IsUpper(r) || unicode.IsTitle(r) {
			capitals++
		}
	}
	begins := unicode.IsUpper(FirstRune(word))
	switch {
	case letters == 0 || !strings.ContainsFunc(word, unicode.IsLower) && capitals == 0,
		capitals > 0 && (strings.Contains(word, ".") || LettersAfter(word) == "I"):
		return noCase
	case capitals == 0:
		return lowerCase
	case capitals == 1 && begins:
		return titleCase
	case capitals == letters:
		return upperCase
	case begins: // McDonald, TVs
		return noCase
	}
	return mixedCase
}

// isFunctionWord reports whether a word is on the list of English function words.
func isFunctionWord(word string) bool {
	parts := wordParts(word)
	return len(parts) > 0 && !slices.Contains(englishStops().covered(parts), false)
}

// writtenLower reports whether the author of a text writes sentences in lower
// case: no capital anywhere outside the blanks nor in words that were masked. Where
// these are not known, also either a sentence that
// starts with a lower-case letter or punctuation set apart by spaces, the mark
// of tokenized, lower-cased corpora.
func writtenLower(t *Template) bool {
	evidence := t.Masked != nil
	if strings.ContainsFunc(strings.Join(t.Masked, ""), unicode.IsUpper) {
		return false
	}
	last := 0
	for i, part := range t.outside() {
		for j, r := range part {
			if unicode.IsUpper(r) {
				return false
			}
			before := t.Text[:last+j]
			if unicode.IsLower(r) && truecase.StartsSentence(before) && !truecase.AfterCry(before) {
				evidence = true
			}
		}
		if i < len(t.Blanks) {
			last = t.Blanks[i].End
		}
	}
	for _, p := range []string{" .", " ,", " !", " ?", " ;"} {
		if strings.Contains(t.Text, p) {
			evidence = true
		}
	}
	return evidence
}

// writtenUpper reports whether a text is written in capitals: it has two words of several capital
// letters outside the blanks, and no small letter.
func writtenUpper(t *Template) bool {
	words := 0
	for _, part := range t.outside() {
		if strings.ContainsFunc(part, unicode.IsLower) {
			return false
		}
		for a, b := range truecase.Words(part) {
			if utf8.RuneCountInString(part[a:b]) > 1 && strings.ContainsFunc(part[a:b], unicode.IsUpper) {
				words++
			}
		}
	}
	return words > 1
}

// writtenTitle reports whether a text is a title, such as "How to Make the Perfect [MASK]". It has
// three words with a capital, and two of them are neither names nor the first. All others are small
// words, and no sentence ends.
func writtenTitle(t *Template) bool {
	capitals, common := 0, 0
	for i, part := range t.outside() {
		if strings.ContainsAny(part, ".!?") {
			return false
		}
		for a, b := range truecase.Words(part) {
			word := part[a:b]
			switch first := FirstRune(word); {
			case unicode.IsUpper(first):
				capitals++
				e, ok := truecase.Lookup(strings.ToLower(word))
				if name := ok && !e.Lower; !name && (i > 0 || capitals > 1) {
					common++
				}
			case unicode.IsLower(first) && !smallInTitles[word]:
				return false
			}
		}
	}
	return capitals > 2 && common > 1
}

// outside are the parts of the text around its blanks.
func (t *Template) outside() []string {
	var parts []string
	last := 0
	for _, b := range t.Blanks {
		parts = append(parts, t.Text[last:b.Start])
		last = b.End
	}
	return append(parts, t.Text[last:])
}

// standsApart reports whether a word after this text begins a word.
func standsApart(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || unicode.IsSpace(r) || strings.ContainsRune("\"“‘'([-–—", r)
}

// smallInTitles are words that titles have in lower case.
var smallInTitles = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields("a an and as at but by for from in into nor of on or over per " +
		"s t than the to upon via vs with") {
		m[w] = true
	}
	return m
}()
