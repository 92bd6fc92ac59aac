package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isNumber reports whether a piece consists of digits, or is a decade or an ordinal such as 1990s
// and 20th.
func isNumber(s string) bool {
	rest := strings.TrimLeftFunc(s, unicode.IsDigit)
	return rest != s && slices.Contains([]string{"", "s", "st", "nd", "rd", "th"}, rest)
}

// hasDigit reports whether a text has a digit.
func hasDigit(s string) bool { return strings.IndexFunc(s, unicode.IsDigit) >= 0 }

// LettersBefore is the end of a text that belongs to one word.
func LettersBefore(s string) string { return s[len(strings.TrimRightFunc(s, isWordRune)):] }

// LettersAfter is the beginning of a text that belongs to one word.
func LettersAfter(s string) string {
	return s[:len(s)-len(strings.TrimLeftFunc(s, isWordRune))]
}

// isWordRune reports whether a rune belongs to a word that a letter beside it
// belongs to as well. Ideographs are words of their own.
func isWordRune(r rune) bool {
	return isLetterOrDigit(r) && !unicode.In(r, unicode.Han, unicode.Hiragana) && !isKatakana(r)
}

// isKatakana reports whether a character is of the script in which Japanese spells words from
// elsewhere, or the mark of its long vowels.
func isKatakana(r rune) bool { return unicode.Is(unicode.Katakana, r) || r == 'ー' || r == 'ｰ' }

// isLetterOrDigit reports whether a rune is part of words, ideographs included.
func isLetterOrDigit(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// isLetters reports whether a piece consists of letters and combining marks.
func isLetters(s string) bool {
	other := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }
	return s != "" && !strings.ContainsFunc(s, other)
}

// firstRune is the first character of a text, utf8.RuneError of an empty one.
func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// lastRune is the last character of a text, utf8.RuneError of an empty one.
func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// IsIdeograph reports whether a character is of a script whose words are not set apart, where each
// character is read as a word.
func IsIdeograph(r rune) bool { return unicode.IsLetter(r) && !isWordRune(r) }
