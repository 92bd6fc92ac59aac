package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"infill/internal/truecase"
)

// A wordCase is how a word is written.
type wordCase int

const (
	noCase wordCase = iota // no letters, I, U.S., iPhone: any word has its own
	lowerCase
	titleCase // the first letter only
	upperCase // two letters or more
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
	begins := unicode.IsUpper(firstRune(word))
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
	}
	return noCase // McDonald, iPhone
}

// isFunctionWord reports whether a word is on the list of English function words.
func isFunctionWord(word string) bool {
	return englishStops().Covers(word)
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
// three words with a capital that are not names. All others are small words, and no sentence ends.
func writtenTitle(t *Template) bool {
	common := 0
	for _, part := range t.outside() {
		upper, names, ok := titleWords(part)
		if !ok {
			return false
		}
		common += upper - names
	}
	return common > 2
}

// isName reports whether a word has a capital wherever it stands.
func isName(word string) bool {
	e, ok := truecase.Lookup(strings.ToLower(word))
	return ok && !e.Lower
}

// titleWords counts the words of a part of a text that have a capital, and the names among them. It
// is not ok for a title: a sentence ends, or another word than a small one is in lower case.
func titleWords(part string) (capitals, names int, ok bool) {
	if strings.ContainsAny(part, ".!?") {
		return 0, 0, false
	}
	number := false // is the word before, as that of a unit
	for a, b := range truecase.Words(part) {
		word := part[a:b]
		first := firstRune(word)
		switch {
		case unicode.IsUpper(first):
			if capitals++; isName(word) {
				names++
			}
		case unicode.IsLower(first) && !smallInTitles[word] && !number:
			return 0, 0, false
		}
		number = unicode.IsDigit(first)
	}
	return capitals, names, true
}

// quotesTitle reports whether a filled span of a text stands in a title in quotation marks, such as
// "Pride and [MASK]": a few words, one with a capital that is not a name. What somebody says is not
// a title.
func quotesTitle(text string, filled [][2]int, i int) bool {
	before, after := text[:filled[i][0]], text[filled[i][1]:]
	from, to := strings.LastIndexAny(before, "\"“"), strings.IndexAny(after, "\"”")
	if from < 0 || to < 0 || strings.ContainsRune("'’", lastRune(before)) ||
		strings.Count(before, "\"")%2 == 0 && before[from] == '"' ||
		strings.Contains(before[from:], "”") {
		return false
	}
	lead := strings.TrimSpace(before[:from])
	if strings.HasSuffix(lead, ",") || strings.HasSuffix(lead, ":") ||
		saying[strings.ToLower(LettersBefore(lead))] {
		return false
	}
	end := filled[i][1] + to
	common := 0
	for at := from; at < end; {
		next, part := end, end // the part up to the next filled span
		for _, s := range filled {
			if s[0] >= at && s[0] < part {
				part, next = s[0], s[1]
			}
		}
		capitals, names, ok := titleWords(text[at:part])
		if !ok || strings.ContainsAny(text[at:part], ",;:") {
			return false
		}
		common += capitals - names
		at = max(next, part)
	}
	return common > 0
}

// saying are words before what somebody says.
var saying = setOf("answered asked cried replied said say says shouted whispered")

// outside are the parts of the text around its blanks.
func (t *Template) outside() []string { return outside(t.Text, t.Blanks) }

func outside(text string, blanks []Blank) (parts []string) {
	last := 0
	for _, b := range blanks {
		parts = append(parts, text[last:b.Start])
		last = b.End
	}
	return append(parts, text[last:])
}

// standsApart reports whether a word after this text begins a word.
func standsApart(before string) bool {
	r := lastRune(before)
	return before == "" || unicode.IsSpace(r) || strings.ContainsRune("\"“‘'([-–—", r)
}

// smallInTitles are words that titles have in lower case.
var smallInTitles = setOf("a an and as at but by for from in into nor of on or over per s t than " +
	"the to upon via vs with")
