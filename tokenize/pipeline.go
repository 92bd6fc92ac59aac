package tokenize

import (
	"slices"
	"sync"
	"unicode/utf8"
)

// pipeline is the text stage. It turns a stretch of text without special tokens into words for the
// model stage by normalizers, one after the other, and then splitters.
type pipeline struct {
	norm  []normalizer
	split []splitter
	added *matcher        // added tokens to find in the normalised text; nil if none
	bert  *bertNormalizer // of bertText, which has a faster way; nil for others
}

// bertText is the text stage of BERT: bertNormalizer, then a split at white
// space and around punctuation.
func bertText(n bertNormalizer) *pipeline {
	return &pipeline{norm: []normalizer{n}, split: []splitter{atSpaces{}, atPunctuation{}}, bert: &n}
}

// byteLevel reports whether the last splitter is byte level.
func (p *pipeline) byteLevel() bool {
	if len(p.split) == 0 {
		return false
	}
	_, ok := p.split[len(p.split)-1].(byteLevel)
	return ok
}

// A splitter divides a stretch of text into stretches, and may mark where
// words begin. bare says that nothing is to be put before the first.
type splitter interface {
	cut(chars []char, bare bool) [][]char
}

func (p *pipeline) normalise(seg string, base int) ([]char, error) {
	chars := make([]char, 0, len(seg)+4)
	for i, r := range seg {
		chars = append(chars, char{r: r, lo: int32(base + i), hi: int32(base + i + utf8.RuneLen(r))})
	}
	for _, n := range p.norm {
		if len(chars) == 0 {
			break
		}
		var err error
		if chars, err = n.run(chars, int32(base)); err != nil {
			return nil, err
		}
		if grown(len(seg), len(chars)) {
			return nil, errGrowth
		}
	}
	return chars, nil
}

// normal is the normalised form of text, for added tokens that are matched after normalisation.
func (p *pipeline) normal(text string) string {
	chars, err := p.normalise(text, 0)
	if err != nil {
		return text // encoding a text will say so
	}
	var out []byte
	for _, c := range chars {
		out = utf8.AppendRune(out, c.r)
	}
	return string(out)
}

// words appends the words of seg to s.words. seg is valid UTF-8 and begins at byte base of a text.
func (p *pipeline) words(s *scratch, seg string, base int) {
	if p.bert != nil && p.added == nil { // added tokens may hold spaces
		p.quick(s, seg, base)
		return
	}
	p.general(s, seg, base)
}

// quick is general for BERT. Stretches between spaces are independent of each other, and the words
// of one of printable ASCII are found without a detour through characters.
func (p *pipeline) quick(s *scratch, seg string, base int) {
	for lo := 0; lo < len(seg); lo++ { // past the space
		end, plain := lo, true
		for ; end < len(seg) && asciiKind[seg[end]] != asciiSpace; end++ {
			plain = plain && asciiKind[seg[end]] != asciiOther
		}
		if !plain {
			p.general(s, seg[lo:end], base+lo)
			lo = end
		}
		for lo < end {
			hi := lo + 1
			for asciiKind[seg[lo]] == asciiWord && hi < end && asciiKind[seg[hi]] == asciiWord {
				hi++
			}
			s.plain(seg[lo:hi], base+lo, p.bert.lower)
			lo = hi
		}
	}
}

// The kinds of bytes for BERT.
const (
	asciiWord  = iota // part of a word
	asciiSpace        // ends a word
	asciiPunct        // a word of its own
	asciiOther        // a control character, or not of ASCII
)

var asciiKind = func() (kind [256]uint8) {
	for c := range kind {
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			kind[c] = asciiSpace
		case c < ' ' || c >= 0x7F:
			kind[c] = asciiOther
		case isPunct(rune(c)):
			kind[c] = asciiPunct
		}
	}
	return kind
}()

// general finds the words of any stretch of text.
func (p *pipeline) general(s *scratch, seg string, base int) {
	chars, err := p.normalise(seg, base)
	if err != nil {
		s.err = &TextError{base, err}
		return
	}
	if p.added == nil {
		p.stretch(s, chars)
		return
	}
	// Where each byte of the normalised text is in chars.
	var text []byte
	var at []int
	for i, c := range chars {
		text = utf8.AppendRune(text, c.r)
		for len(at) < len(text) {
			at = append(at, i)
		}
	}
	at = append(at, len(chars))
	done := 0
	for _, m := range p.added.find(nil, string(text)) {
		p.stretch(s, chars[at[done]:at[m.from]])
		s.put(chars[at[m.lo]:at[m.hi]], m.id)
		done = m.to
	}
	p.stretch(s, chars[at[done]:])
}

// stretch splits normalised text that has no added token in it.
func (p *pipeline) stretch(s *scratch, chars []char) {
	if len(chars) == 0 {
		return
	}
	bare := s.bare
	s.bare = false
	parts := [][]char{chars}
	for _, sp := range p.split {
		if _, ok := sp.(atPunctuation); ok && isPunct(chars[0].r) {
			bare = false // it is cut off whatever is before it
		}
		var next [][]char
		for i, part := range parts {
			next = append(next, sp.cut(part, bare && i == 0)...)
		}
		parts = next
	}
	for _, part := range parts {
		s.put(part, -1)
	}
}

// A word is bytes lo to hi of a scratch's normalised text. One with id ≥ 0 is an added token found
// there.
type word struct{ lo, hi, id int32 }

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// maxScratch is the most bytes of normalised text in a scratch that serves for another text.
const maxScratch = 1 << 20

// scratch is the memory of one encoding that the result does not need.
type scratch struct {
	norm   normalised
	words  []word
	pieces []piece
	err    error
	bare   bool // the next word is not at the start of a text, nor after a space
}

func (s *scratch) reset() {
	s.words, s.err = s.words[:0], nil
	s.norm.reset()
}

// bytes returns the normalised spelling of w.
func (s *scratch) bytes(w word) []byte { return s.norm.text[w.lo:w.hi] }

// span returns where bytes lo to hi of word w are in the original text.
func (s *scratch) span(w word, lo, hi int32) [2]int {
	return [2]int{int(s.norm.lo[w.lo+lo]), int(s.norm.hi[w.lo+hi-1])}
}

// plain appends a word of ASCII, which begins at a byte of the text.
func (s *scratch) plain(w string, at int, lower bool) {
	lo := len(s.norm.text)
	for i := range len(w) {
		c := w[i]
		if lower && 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		s.norm.text = append(s.norm.text, c)
		s.norm.lo, s.norm.hi = append(s.norm.lo, int32(at+i)), append(s.norm.hi, int32(at+i+1))
	}
	s.words = append(s.words, word{int32(lo), int32(len(s.norm.text)), -1})
}

// put appends a word of these characters.
func (s *scratch) put(chars []char, id int32) {
	lo := len(s.norm.text)
	for _, c := range chars {
		s.norm.add(c.r, c)
	}
	s.words = append(s.words, word{int32(lo), int32(len(s.norm.text)), id})
}

// atSpaces is a splitter that divides at white space and drops it.
type atSpaces struct{}

func (atSpaces) cut(chars []char, _ bool) [][]char { return cutAt(chars, isWhite, false) }

// atPunctuation is a splitter that makes every punctuation character a stretch.
type atPunctuation struct{}

func (atPunctuation) cut(chars []char, _ bool) [][]char { return cutAt(chars, isPunct, true) }

// cutAt divides at the characters of a kind, and keeps each as a stretch or drops it.
func cutAt(chars []char, of func(rune) bool, keep bool) (out [][]char) {
	lo := 0
	for i, c := range chars {
		if !of(c.r) {
			continue
		}
		if lo < i {
			out = append(out, chars[lo:i:i])
		}
		if keep {
			out = append(out, chars[i:i+1:i+1])
		}
		lo = i + 1
	}
	if lo < len(chars) {
		out = append(out, chars[lo:])
	}
	return out
}

// The ways in which a metaspace puts its mark before a stretch.
type prependScheme int

const (
	prependAlways prependScheme = iota
	prependFirst                // only at the start of the text
	prependNever
)

// metaspace is the splitter of SentencePiece: every space becomes a mark, and
// the text is divided before each mark.
type metaspace struct {
	mark   rune
	scheme prependScheme
	split  bool
}

func (m metaspace) cut(chars []char, bare bool) [][]char {
	for i := range chars {
		if chars[i].r == ' ' {
			chars[i].r = m.mark
		}
	}
	first := chars[0]
	if first.r != m.mark && !bare && (m.scheme == prependAlways || m.scheme == prependFirst &&
		(first.lo == 0 || first.made)) {
		first.r = m.mark
		chars = slices.Insert(slices.Clip(chars), 0, first)
	}
	if !m.split {
		return [][]char{chars}
	}
	var out [][]char
	lo := 0
	for i := 1; i < len(chars); i++ {
		if chars[i].r == m.mark {
			out = append(out, chars[lo:i:i])
			lo = i
		}
	}
	return append(out, chars[lo:])
}
