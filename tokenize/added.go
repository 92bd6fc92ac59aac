package tokenize

import (
	"iter"
	"maps"
	"slices"
	"unicode"
	"unicode/utf8"
)

// An addedToken is a string that is one token wherever it stands in a text,
// whatever the model stage would make of it.
type addedToken struct {
	ID         int32
	Content    string // exact spelling, 1 to 1024 bytes
	Special    bool   // has a role and no meaning as a word, such as [MASK]
	Normalized bool   // look for it in the normalised text, not in the original
	SingleWord bool   // only where no letter, digit or underscore touches it
	LeftStrip  bool   // swallows the white space before it
	RightStrip bool   // swallows the white space after it
}

// A match is one added token in a text: its spelling is bytes lo to hi, and
// with the white space that it swallows it takes up from to to.
type match struct {
	from, lo, hi, to int
	id               int32
}

// A matcher finds added tokens: leftmost, and longest among those that begin
// at the same byte.
type matcher struct {
	tokens  map[string]addedToken
	lengths lengths
}

// lengths has the lengths of some strings in bytes, by their first byte, longest first.
type lengths [256][]int

// lengthsOf has the lengths of strings that are not empty.
func lengthsOf(list iter.Seq[string]) (out lengths) {
	for s := range list {
		if n := len(s); !slices.Contains(out[s[0]], n) {
			out[s[0]] = append(out[s[0]], n)
		}
	}
	for _, of := range out {
		slices.SortFunc(of, func(a, b int) int { return b - a })
	}
	return out
}

// newMatcher returns nil if there are no tokens.
func newMatcher(tokens []addedToken) *matcher {
	m := &matcher{tokens: make(map[string]addedToken)}
	for _, t := range tokens {
		if t.Content != "" {
			m.tokens[t.Content] = t
		}
	}
	if len(m.tokens) == 0 {
		return nil
	}
	m.lengths = lengthsOf(maps.Keys(m.tokens))
	return m
}

// at returns the longest token at byte i of text.
func (m *matcher) at(text string, i int) (addedToken, bool) {
	for _, n := range m.lengths[text[i]] {
		if i+n <= len(text) {
			if t, ok := m.tokens[text[i:i+n]]; ok {
				return t, true
			}
		}
	}
	return addedToken{}, false
}

// find appends the matches in text, in order and without overlap.
func (m *matcher) find(out []match, text string) []match {
	done := 0 // end of the last match kept
	for i := 0; i < len(text); {
		if len(m.lengths[text[i]]) == 0 {
			i++
			continue
		}
		t, ok := m.at(text, i)
		if !ok {
			i++
			continue
		}
		lo, hi := i, i+len(t.Content)
		i = hi
		if lo < done || t.SingleWord && (endsInWord(text[:lo]) || beginsWithWord(text[hi:])) {
			continue
		}
		m := match{lo, lo, hi, hi, t.ID}
		for t.LeftStrip && m.from > done {
			r, size := utf8.DecodeLastRuneInString(text[:m.from])
			if !unicode.IsSpace(r) {
				break
			}
			m.from -= size
		}
		for t.RightStrip && m.to < len(text) {
			r, size := utf8.DecodeRuneInString(text[m.to:])
			if !unicode.IsSpace(r) {
				break
			}
			m.to += size
		}
		out = append(out, m)
		done = m.to
	}
	return out
}

// isWordRune is \w of the regular expressions of Unicode Technical Standard 18.
func isWordRune(r rune) bool { return unicode.In(r, inWord...) }

func endsInWord(text string) bool {
	r, size := utf8.DecodeLastRuneInString(text)
	return size > 0 && isWordRune(r)
}

func beginsWithWord(text string) bool {
	r, size := utf8.DecodeRuneInString(text)
	return size > 0 && isWordRune(r)
}
