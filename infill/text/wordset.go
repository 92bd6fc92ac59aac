package text

import (
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// A WordSet is a set of words and phrases of a text, whatever the model's vocabulary. Case does not
// count, nor does what stands between the parts of a word or phrase: "New York" is also "new-york",
// and "Alice" is also part of "Alice's". It is safe for concurrent use.
type WordSet struct {
	entries map[string]bool // parts in lower case, each followed by a NUL
	longest map[string]int  // by the first part: the most parts of an entry
}

// A wordPart is a run of letters, digits and marks, or an ideograph: "don't" has two.
type wordPart struct {
	start, end int    // bytes of the text
	lower      string // in lower case
}

// wordParts are the parts of all words of a text, in order.
func wordParts(text string) []wordPart {
	var out []wordPart
	start := -1
	end := func(at int) {
		if start >= 0 {
			out = append(out, wordPart{start, at, strings.ToLower(text[start:at])})
		}
		start = -1
	}
	var last rune
	for i, r := range text {
		switch {
		case !isLetterOrDigit(r):
			end(i)
		case start >= 0 && !unicode.IsMark(r) && (IsIdeograph(r) || IsIdeograph(last)) &&
			(!isKatakana(r) || !isKatakana(last)):
			end(i)
			start = i
		case start < 0:
			start = i
		}
		last = r
	}
	end(len(text))
	return out
}

// NewWordSet makes a set of words and phrases. The error, ErrOption, names one without a letter or
// digit.
func NewWordSet(words []string) (*WordSet, error) {
	s := &WordSet{entries: map[string]bool{}, longest: map[string]int{}}
	for _, w := range words {
		if err := s.add(w); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// ReadWordSet reads a set of words or phrases, one a line. Empty lines and lines that begin with #
// are left out. Errors name the line.
func ReadWordSet(r io.Reader) (*WordSet, error) {
	s, err := NewWordSet(nil)
	if err == nil {
		err = readList(r, s.add, s.Len)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Add puts the words of another set into s. A nil set has none.
func (s *WordSet) Add(other *WordSet) {
	if other == nil {
		return
	}
	if s.entries == nil {
		s.entries, s.longest = map[string]bool{}, map[string]int{}
	}
	maps.Copy(s.entries, other.entries)
	for first, n := range other.longest {
		s.longest[first] = max(s.longest[first], n)
	}
}

// Len is the number of different words and phrases.
func (s *WordSet) Len() int { return len(s.entries) }

func (s *WordSet) add(word string) error {
	parts := wordParts(word)
	switch {
	case len(parts) == 0:
		return fmt.Errorf("%w: the word %q has no letter or digit", ErrOption, word)
	case len(word) > maxListWord:
		return fmt.Errorf("%w: a word of %d bytes, want at most %d", ErrOption, len(word), maxListWord)
	}
	s.entries[partsKey(parts)] = true
	s.longest[parts[0].lower] = max(s.longest[parts[0].lower], len(parts))
	return nil
}

func partsKey(parts []wordPart) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.lower)
		b.WriteByte(0)
	}
	return b.String()
}

// from is the length of the longest entry of the set that begins with the first part, 0 for none.
func (s *WordSet) from(parts []wordPart) int {
	n := min(s.longest[parts[0].lower], len(parts))
	for n > 0 && !s.entries[partsKey(parts[:n])] {
		n--
	}
	return n
}

// Places are the bytes of a text at which entries of the set stand, in order. They may overlap.
func (s *WordSet) Places(text string) (out [][2]int) {
	parts := wordParts(text)
	for i, p := range parts {
		if n := s.from(parts[i:]); n > 0 {
			out = append(out, [2]int{p.start, parts[i+n-1].end})
		}
	}
	return out
}

// covered says of each part of a text whether an entry of the set covers it.
func (s *WordSet) covered(parts []wordPart) []bool {
	out := make([]bool, len(parts))
	for i := range parts {
		for k := range s.from(parts[i:]) {
			out[i+k] = true
		}
	}
	return out
}

// Covers reports whether the set has all parts of a word. A word without parts is not covered.
func (s *WordSet) Covers(word string) bool {
	parts := wordParts(word)
	return len(parts) > 0 && !slices.Contains(s.covered(parts), false)
}

// overWords says of each word of a text, as byte spans, how many parts it has and how many of these
// the set covers.
func (s *WordSet) overWords(text string, words [][2]int) (parts, covered []int) {
	all := wordParts(text)
	yes := s.covered(all)
	parts, covered = make([]int, len(words)), make([]int, len(words))
	w := 0
	for i, p := range all {
		for w < len(words) && words[w][1] <= p.start {
			w++
		}
		if w == len(words) {
			break
		}
		if p.end <= words[w][0] {
			continue
		}
		parts[w]++
		if yes[i] {
			covered[w]++
		}
	}
	return parts, covered
}

// Content reports whether a word or phrase has a letter and is more than function words: the set's,
// or of nil those of English.
func (s *WordSet) Content(word string) bool {
	if s == nil {
		s = englishStops()
	}
	parts, covered := s.overWords(word, [][2]int{{0, len(word)}})
	return parts[0] > covered[0] && strings.ContainsFunc(word, unicode.IsLetter)
}

//go:embed stopwords_en.txt
var englishStopWords string

// englishStops is the program's list of English function words: articles, pronouns,
// prepositions, conjunctions, auxiliary verbs, and adverbs of degree, negation and place. The set
// is shared and must not be changed.
var englishStops = sync.OnceValue(func() *WordSet {
	s, _ := ReadWordSet(strings.NewReader(englishStopWords)) // a test sees that it can be read
	return s
})
