package truecase

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words yields the byte spans of the words of a text: runs of letters, digits and marks.
func Words(text string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for at := 0; ; {
			a := at + strings.IndexFunc(text[at:], isWordRune)
			if a < at {
				return
			}
			at = wordEnd(text, a)
			if !yield(a, at) {
				return
			}
		}
	}
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func outsideWords(r rune) bool { return !isWordRune(r) }

// wordStart is the first byte of the word that ends at byte at, or at itself.
func wordStart(text string, at int) int { return len(strings.TrimRightFunc(text[:at], isWordRune)) }

// wordEnd is the end of the word that begins at byte at, or at itself.
func wordEnd(text string, at int) int {
	return len(text) - len(strings.TrimLeftFunc(text[at:], isWordRune))
}

// nextWord is where the next word begins, at byte at or later, or the end of the text.
func nextWord(text string, at int) int {
	return len(text) - len(strings.TrimLeftFunc(text[at:], outsideWords))
}

// StartsSentence reports whether a sentence starts after the text before: at the very start, or
// after a full stop, exclamation or question mark and white space. Opening quotes and brackets do
// not count.
func StartsSentence(before string) bool {
	s := strings.TrimRight(before, "\"'`([{“‘«¿¡")
	trimmed := strings.TrimRightFunc(s, unicode.IsSpace)
	if trimmed == "" {
		return true
	}
	if trimmed == s {
		return false // no white space: "3.[MASK]"
	}
	trimmed = strings.TrimRight(trimmed, "\"')]}”’»")
	r, n := utf8.DecodeLastRuneInString(trimmed)
	switch r {
	case '!', '?', '…':
		return true
	case '.':
		return !Abbreviation(trimmed[:len(trimmed)-n])
	}
	return false
}

// Abbreviation reports whether the word before a full stop is one after which
// sentences rarely end: a single letter (initials, "e.g.") or a common title.
func Abbreviation(before string) bool {
	word := before[strings.LastIndexFunc(before, func(r rune) bool { return !unicode.IsLetter(r) })+1:]
	if utf8.RuneCountInString(word) == 1 && word != "I" {
		return true
	}
	switch strings.ToLower(word) {
	case "mr", "mrs", "ms", "dr", "st", "prof", "vs", "etc", "jr", "sr":
		return true
	}
	return false
}
