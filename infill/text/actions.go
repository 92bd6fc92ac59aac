package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"infill/internal/truecase"
)

// gaps are the places between two words, with white space or nothing between them, where a word may
// be put in: not within a kept span or phrase, and within a span that is asked for.
func (m Masking) gaps(text string, found []textWord) [][2]int {
	words := make([][2]int, len(found))
	for i, w := range found {
		words[i] = w.span
	}
	kept := make([]int, len(words))
	if m.Keep != nil {
		_, kept = m.Keep.overWords(text, words)
	}
	asked, some := m.asked(text)
	var out [][2]int
	for i := 1; i < len(words); i++ {
		at := words[i][0]
		between := text[words[i-1][1]:at]
		apart := between == "" && IsIdeograph(lastRune(text[:at])) && IsIdeograph(firstRune(text[at:]))
		if !apart && !unicode.IsSpace(lastRune(between)) || kept[i-1] > 0 && kept[i] > 0 ||
			m.inKept([2]int{at, at}) || some && !slices.ContainsFunc(asked, func(s [2]int) bool {
			return s[0] < at && at < s[1]
		}) {
			continue
		}
		out = append(out, [2]int{at, at})
	}
	return out
}

// deletable reports whether a word can be taken out. Punctuation beside it must not be left alone.
func deletable(text string, word [2]int) bool {
	_, _, ok := withSpace(text, word)
	return ok
}

// withSpace are the bytes that go with a word: it, and the space after it, or before it where a
// sentence ends.
func withSpace(text string, word [2]int) (a, b int, ok bool) {
	a, b = word[0], word[1]
	last, l := utf8.DecodeLastRuneInString(text[:a])
	next, n := utf8.DecodeRuneInString(text[b:])
	switch {
	case unicode.IsSpace(next) && (l == 0 || unicode.IsSpace(last) || unicode.Is(unicode.Ps, last) ||
		unicode.Is(unicode.Pi, last) || last == '"'):
		return a, b + n, true
	case unicode.IsSpace(last) && (n == 0 || unicode.IsSpace(next) ||
		strings.ContainsRune(".!?", next)):
		return a - l, b, true
	case IsIdeograph(next) && (l == 0 || IsIdeograph(last)),
		IsIdeograph(last) && (n == 0 || unicode.IsPunct(next)):
		return a, b, true
	}
	return a, b, false
}

// Delete takes words out of a text, those of Masking.ChooseRemovable, in order. from are the bytes
// that go, with a space each, and to where they were in the text that is left. A sentence keeps its
// first capital.
func Delete(text string, words [][2]int) (left string, from, to [][2]int) {
	var b strings.Builder
	last := 0
	for _, w := range words {
		start, end, _ := withSpace(text, w)
		if k := len(from) - 1; start < last && k >= 0 { // the space before went with the word before
			start = last
			if s := from[k][0]; s > 0 && unicode.IsSpace(lastRune(text[:s])) {
				kept := strings.TrimRightFunc(b.String(), unicode.IsSpace)
				from[k][0] -= b.Len() - len(kept)
				to[k] = [2]int{len(kept), len(kept)}
				b.Reset()
				b.WriteString(kept)
			}
		}
		b.WriteString(text[last:start])
		from, to = append(from, [2]int{start, end}), append(to, [2]int{b.Len(), b.Len()})
		last = end
	}
	b.WriteString(text[last:])
	left = b.String()
	for i, w := range words {
		at := to[i][0]
		next := firstRune(left[at:])
		if unicode.IsUpper(firstRune(text[w[0]:])) && unicode.IsLower(next) &&
			truecase.StartsSentence(left[:at]) {
			if up := upper(string(next)); len(up) == len(string(next)) {
				left = left[:at] + up + left[at+len(up):]
			}
		}
	}
	return left, from, to
}

// Restored is a text with other words in some spans, and their places. An empty word takes the
// space after its span along, see BlankOut.
func Restored(text string, spans [][2]int, words []string) (string, [][2]int) {
	var b strings.Builder
	at := make([][2]int, len(words))
	last := 0
	for i, s := range spans {
		b.WriteString(text[last:s[0]])
		at[i] = [2]int{b.Len(), b.Len() + len(words[i])}
		b.WriteString(words[i])
		if last = s[1]; words[i] == "" && strings.HasPrefix(text[last:], " ") {
			last++
		}
	}
	b.WriteString(text[last:])
	return b.String(), at
}
