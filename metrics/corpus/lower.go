package corpus

import (
	"strings"
	"unicode"
)

// lower lower-cases a line as Python's str.lower does. It differs from
// strings.ToLower in two letters: İ becomes i followed by a combining dot, and a
// capital sigma at the end of a word becomes ς.
func lower(line string) string {
	if !strings.ContainsAny(line, "İΣ") {
		return strings.ToLower(line)
	}
	r := []rune(line)
	var b strings.Builder
	b.Grow(len(line) + 8)
	for i, c := range r {
		switch {
		case c == 'İ':
			b.WriteString("i̇")
		case c == 'Σ' && endsWord(r, i):
			b.WriteRune('ς')
		default:
			b.WriteRune(unicode.ToLower(c))
		}
	}
	return b.String()
}

// endsWord is Unicode's Final_Sigma condition: a cased letter before, none
// after, characters that case ignores skipped in both directions.
func endsWord(r []rune, i int) bool {
	j := i - 1
	for j >= 0 && caseIgnorable(r[j]) {
		j--
	}
	if j < 0 || !cased(r[j]) {
		return false
	}
	j = i + 1
	for j < len(r) && caseIgnorable(r[j]) {
		j++
	}
	return j >= len(r) || !cased(r[j])
}

// cased is Unicode's property Cased. Some signs with a case, such as Ⅳ and ⓐ, are not letters.
func cased(r rune) bool {
	return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) ||
		unicode.In(r, unicode.Other_Uppercase, unicode.Other_Lowercase)
}

// caseIgnorable is Unicode's property Case_Ignorable. The signs that may stand inside of a word,
// such as an apostrophe, have no table in package unicode: they are those whose Word_Break is
// Single_Quote, MidLetter or MidNumLet.
func caseIgnorable(r rune) bool {
	switch r {
	case '\'', ':', '·', '\u0387', '\u055f', '\u05f4', '\u2027', '\ufe13', '\ufe55', '\uff1a',
		'.', '‘', '’', '\u2024', '\ufe52', '\uff07', '\uff0e':
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
