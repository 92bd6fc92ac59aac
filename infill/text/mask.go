package text

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"unicode"

	"infill/samplers"
	"infill/tokenize"
)

// Words are the bytes of the words of a text: what stands between white space, without punctuation
// at its ends, and each character of scripts whose words are not set apart.
func Words(text string) [][2]int {
	var out [][2]int
	for _, w := range wordsOf(text) {
		out = append(out, w.span)
	}
	return out
}

// CountWords is the number of words of a text that a [Masking] may mask: what stands
// between white space, and the characters of scripts whose words are not set apart. Addresses,
// names of fields and other forms for which no word can stand are left out.
func CountWords(text string) int {
	n := 0
	for _, w := range wordsOf(text) {
		if !w.fixed {
			n++
		}
	}
	return n
}

// MaxMaskWords is the largest Masking.Words.
const MaxMaskWords = 1000

// A Masking says how many words of a text without blanks become blanks, and which may. The number
// is a share of those that may, or given. Without Rate and Words nothing is masked.
type Masking struct {
	Rate  float64 // share of the words that may be masked, rounded, at least one; in (0, 1]
	Words int     // or exactly this number; 1 to MaxMaskWords

	Keep  *WordSet  // words that are never masked; nil: none
	Only  *WordSet  // the only words and phrases that are masked, of other words no part; nil: any
	Class WordClass // the words that may be masked
	Stop  *WordSet  // the function words of ClassContent; nil: those of English
	// Spans are labelled parts of the text without its escapes. If MaskLabels has labels, only words
	// in spans of these are masked. Words that have a byte in a span with one of KeepLabels are not.
	// "*" stands for all labels. Spans without any of these labels to go by are an ErrOption.
	Spans                  []LabelledSpan
	MaskLabels, KeepLabels []string

	// Adjacent masks words that follow each other, with nothing but white space between. Without it
	// they may stand anywhere.
	Adjacent bool
	// Joined makes one blank of adjacent words, from the first to the last.
	Joined bool
	// Fits is asked of every word that may otherwise be masked, a byte span of the text. Those that
	// it refuses stay. nil takes all.
	Fits func(text string, word [2]int) bool
}

// WordClass is a kind of words.
type WordClass int

const (
	// classAll is every word that another word can stand for.
	classAll WordClass = iota
	// ClassContent are the words with a letter that are not function words, see Masking.Stop.
	ClassContent
	// classEverything is also what no word of a vocabulary can stand for, such as addresses,
	// versions, names of files and of fields. Each is masked whole.
	classEverything
)

// On reports whether words are to be masked.
func (m Masking) On() bool { return m.Rate != 0 || m.Words != 0 }

// Both says that a rate and a number are given. Only one of them can hold.
func (m Masking) Both() bool { return m.Rate != 0 && m.Words != 0 }

// Check refuses a masking that makes no sense; the error is ErrOption.
func (m Masking) Check() error {
	switch {
	case m.Both():
		return fmt.Errorf("%w: a mask rate and a number of words to mask; give one of them", ErrOption)
	case m.Words < 0 || m.Words > MaxMaskWords:
		return fmt.Errorf("%w: %d words to mask, want 1 to %d", ErrOption, m.Words, MaxMaskWords)
	case m.Words == 0 && !(m.Rate > 0 && m.Rate <= 1):
		return fmt.Errorf("%w: mask rate %v, want a number above 0 and at most 1", ErrOption, m.Rate)
	case m.Class < classAll || m.Class > classEverything:
		return fmt.Errorf("%w: word class %d, want 0 for all, 1 for content words, 2 for everything",
			ErrOption, m.Class)
	case m.Joined && !m.Adjacent:
		return fmt.Errorf("%w: one blank for words from anywhere; set Adjacent too", ErrOption)
	case len(m.Spans) > 0 && !m.labels():
		return fmt.Errorf("%w: spans, but neither MaskLabels nor KeepLabels, which say what is done "+
			"with them; \"*\" stands for all labels", ErrOption)
	}
	return nil
}

// Template blanks out words of a text, chosen at random (DLP, section 7.5,
// masks 25 %). It returns the template, whose text has [MASK] in their places,
// and the words taken out, in order. The choice depends on text, seed and id
// only. Errors: ErrOption for a masking out of range, ErrSpan for a span that is not one of the
// text, ErrBlank for a text with blanks, ErrEmpty for one without words, ErrFewWords for one in
// which none or fewer than Words may be masked, or invalid UTF-8.
func (m Masking) Template(tok *tokenize.Tokenizer, text string, seed uint64,
	id string) (*Template, []string, error) {
	p, err := Read(tok, text)
	if err != nil {
		return nil, nil, err
	}
	return m.Blanked(p, seed, id)
}

// Blanked is Template of a text that was read.
func (m Masking) Blanked(p *Plain, seed uint64, id string) (*Template, []string, error) {
	chosen, err := m.Choose(p, seed, id)
	if err != nil {
		return nil, nil, err
	}
	return BlankOut(p.tok, p.Text, chosen)
}

// BlankOut makes the template of a text with blanks in place of some words, and returns these. A
// blank in an empty place has a space before the next word.
func BlankOut(tok *tokenize.Tokenizer, text string, chosen [][2]int) (*Template, []string, error) {
	const spelling = openBlank + "]"
	var b strings.Builder
	var blanks []Blank
	var taken []string
	last := 0
	for _, w := range chosen {
		b.WriteString(text[last:w[0]])
		blanks = append(blanks, Blank{Start: b.Len(), End: b.Len() + len(spelling), Min: 1, Max: 1})
		b.WriteString(spelling)
		if w[0] == w[1] && unicode.IsSpace(lastRune(text[:w[0]])) {
			b.WriteByte(' ')
		}
		taken = append(taken, text[w[0]:w[1]])
		last = w[1]
	}
	b.WriteString(text[last:])
	t, err := newTemplate(tok, b.String(), blanks)
	if err != nil {
		return nil, nil, err
	}
	t.Masked = taken
	return t, taken, nil
}

// Choose returns the spans of the words of p.Text to blank out, in order.
func (m Masking) Choose(p *Plain, seed uint64, id string) ([][2]int, error) {
	return m.choose(p, seed, id, m.candidates)
}

// ChooseGaps is Choose of places between two words: empty spans where a word may be put in.
func (m Masking) ChooseGaps(p *Plain, seed uint64, id string) ([][2]int, error) {
	return m.choose(p, seed, id, m.gaps)
}

// ChooseRemovable is Choose of words that can be taken out, see Delete.
func (m Masking) ChooseRemovable(p *Plain, seed uint64, id string) ([][2]int, error) {
	fits := m.Fits
	m.Fits = func(text string, word [2]int) bool {
		return deletable(text, word) && (fits == nil || fits(text, word))
	}
	return m.Choose(p, seed, id)
}

func (m Masking) choose(p *Plain, seed uint64, id string,
	among func(text string, found []textWord) [][2]int) ([][2]int, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	text := p.Text
	if err := CheckText(text, "write a sentence whose words can be masked"); err != nil {
		return nil, err
	}
	if len(p.Blanks) > 0 {
		return nil, &Error{p.Blanks[0].Start, "words are masked in texts without blanks, and " +
			"this one has some; a backslash before a blank makes text of it", ErrBlank}
	}
	found := wordsOf(text)
	if len(found) == 0 {
		return nil, &Error{-1, "there is no word to mask", ErrEmpty}
	}
	if err := m.checkSpans(text); err != nil {
		return nil, err
	}
	words := among(text, found)
	n := m.Words
	if n == 0 {
		n = min(max(1, int(math.Round(m.Rate*float64(len(words))))), len(words))
	}
	switch {
	case len(words) == 0:
		none := fmt.Sprintf("none of %d may be masked", len(found))
		if slices.ContainsFunc(found, func(w textWord) bool { return w.fixed }) {
			none += ", without what no word can stand for: addresses, names of fields, words of scripts " +
				"that do not set them apart, such as Thai"
		}
		return nil, &Error{-1, none, ErrFewWords}
	case n > len(words):
		of := fmt.Sprintf("%d words to mask in a text of %d", n, len(words))
		if len(words) < len(found) {
			of = fmt.Sprintf("%d words to mask, %d of %d may be", n, len(words), len(found))
		}
		return nil, &Error{-1, of, ErrFewWords}
	}
	rng := samplers.NewStream(seed, id+"\x00mask", 0)
	if m.Adjacent {
		runs := adjacent(text, words, n)
		if len(runs) == 0 {
			return nil, &Error{-1, fmt.Sprintf("no %d adjacent words may be masked", n), ErrFewWords}
		}
		first := runs[rng.IntN(len(runs))]
		chosen := words[first : first+n]
		if m.Joined {
			chosen = [][2]int{{chosen[0][0], chosen[n-1][1]}}
		}
		return chosen, nil
	}
	chosen := rng.Perm(len(words))[:n]
	sort.Ints(chosen)
	out := make([][2]int, n)
	for i, w := range chosen {
		out[i] = words[w]
	}
	return out, nil
}

// adjacent lists where n words in a row begin that have nothing but white space between.
func adjacent(text string, words [][2]int, n int) []int {
	var out []int
	in := 0 // words up to this one that follow each other
	for i, w := range words {
		if i > 0 && strings.TrimSpace(text[words[i-1][1]:w[0]]) != "" {
			in = 0
		}
		if in++; in >= n {
			out = append(out, i-n+1)
		}
	}
	return out
}

// candidates are the words that may be masked, as byte spans of the text.
func (m Masking) candidates(text string, found []textWord) [][2]int {
	var words [][2]int
	for _, w := range found {
		// A label asks for what it stands at.
		if !w.fixed || m.Class == classEverything && m.Only == nil || len(m.MaskLabels) > 0 {
			words = append(words, w.span)
		}
	}
	asked, some := m.asked(text)
	taken := make([]bool, len(words))
	if m.Keep != nil {
		_, kept := m.Keep.overWords(text, words)
		for i, n := range kept {
			taken[i] = n > 0
		}
	}
	if m.Class == ClassContent {
		stop := m.Stop
		if stop == nil {
			stop = englishStops()
		}
		parts, covered := stop.overWords(text, words)
		for i, w := range words {
			taken[i] = taken[i] || parts[i] == covered[i] || isAside(text[w[0]:w[1]]) ||
				strings.IndexFunc(text[w[0]:w[1]], unicode.IsLetter) < 0
		}
	}
	var out [][2]int
	for i, w := range words {
		if taken[i] || m.inKept(w) {
			continue
		}
		if some {
			out = append(out, within(asked, text, w)...)
		} else {
			out = append(out, w)
		}
	}
	if m.Fits != nil {
		out = slices.DeleteFunc(out, func(w [2]int) bool { return !m.Fits(text, w) })
	}
	return out
}
