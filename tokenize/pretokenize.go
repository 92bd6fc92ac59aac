package tokenize

import "unicode/utf8"

// A textStage turns a stretch of text without special tokens into words for
// the model stage: normalisation and pre-tokenisation.
type textStage interface {
	// words appends the words of seg to s.words. seg is valid UTF-8 and starts
	// at byte base of the text.
	words(s *scratch, seg string, base int)
	// normal is the normalised form of text, for added tokens that are matched after normalisation.
	normal(text string) string
}

// A word is s.text[lo:hi] of a scratch. Its byte i comes from byte src+i of
// the original text, or, if src is negative, from the origins in the scratch.
// A word with id ≥ 0 is an added token found in the normalised text.
type word struct {
	lo, hi int32
	src    int32
	id     int32
}

// scratch is what encoding one text needs and nobody keeps.
type scratch struct {
	ascii  []byte // normalised ASCII words
	norm   normalised
	words  []word
	pieces []piece
	err    error
	bare   bool // the next word is not at the start of a text, nor after a space
}

// maxScratch bounds, in bytes of text, what is kept for reuse after an Encode.
const maxScratch = 1 << 20

func (s *scratch) reset() {
	s.ascii, s.words, s.err = s.ascii[:0], s.words[:0], nil
	s.norm.reset()
}

// bytes returns the normalised spelling of w.
func (s *scratch) bytes(w word) []byte {
	if w.src >= 0 {
		return s.ascii[w.lo:w.hi]
	}
	return s.norm.text[w.lo:w.hi]
}

// span returns where bytes lo to hi of word w are in the original text.
func (s *scratch) span(w word, lo, hi int32) [2]int {
	if w.src >= 0 {
		return [2]int{int(w.src + lo), int(w.src + hi)}
	}
	return [2]int{int(s.norm.lo[w.lo+lo]), int(s.norm.hi[w.lo+hi-1])}
}

// bertText is the text stage of BERT: bertNormalizer, then a split at white
// space and around punctuation.
type bertText struct {
	norm  bertNormalizer
	added *matcher // added tokens to find in the normalised text; nil if none
}

// The kinds of ASCII characters, the common ones.
const (
	asciiWord  = iota // part of a word
	asciiSpace        // ends a word
	asciiPunct        // a word of its own
	asciiOther        // a control character or not ASCII: take the general way
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

func (b *bertText) normal(text string) string {
	var n normalised
	b.norm.run(&n, text, 0)
	return string(n.text)
}

// words splits seg. Stretches between ASCII spaces are independent of each
// other, so each goes the fast way if it is plain ASCII. Added tokens that are
// matched after normalisation may hold spaces; then all goes the general way.
func (b *bertText) words(s *scratch, seg string, base int) {
	if b.added != nil {
		b.general(s, seg, base)
		return
	}
	for i := 0; i < len(seg); {
		if asciiKind[seg[i]] == asciiSpace {
			i++
			continue
		}
		end, plain := i, true
		for end < len(seg) {
			kind := asciiKind[seg[end]]
			if kind == asciiSpace {
				break
			}
			plain = plain && kind != asciiOther
			end++
		}
		if plain {
			b.fast(s, seg[i:end], base+i)
		} else {
			b.general(s, seg[i:end], base+i)
		}
		i = end
	}
}

// fast splits a stretch of printable ASCII without spaces.
func (b *bertText) fast(s *scratch, seg string, base int) {
	start := len(s.ascii) // of seg in s.ascii
	if s.ascii = append(s.ascii, seg...); b.norm.lower {
		for i := start; i < len(s.ascii); i++ {
			if c := s.ascii[i]; 'A' <= c && c <= 'Z' {
				s.ascii[i] = c + 'a' - 'A'
			}
		}
	}
	emit := func(lo, hi int) {
		s.words = append(s.words, word{int32(start + lo), int32(start + hi), int32(base + lo), -1})
	}
	lo := 0
	for i := range len(seg) {
		if asciiKind[seg[i]] == asciiPunct {
			if lo < i {
				emit(lo, i)
			}
			emit(i, i+1)
			lo = i + 1
		}
	}
	if lo < len(seg) {
		emit(lo, len(seg))
	}
}

// general splits any stretch of text.
func (b *bertText) general(s *scratch, seg string, base int) {
	first := len(s.norm.text)
	b.norm.run(&s.norm, seg, base)
	if b.added == nil {
		b.split(s, first, len(s.norm.text))
		return
	}
	text := string(s.norm.text[first:])
	done := 0
	for _, m := range b.added.find(nil, text) {
		b.split(s, first+done, first+m.from)
		s.words = append(s.words, word{int32(first + m.lo), int32(first + m.hi), -1, m.id})
		done = m.to
	}
	b.split(s, first+done, len(s.norm.text))
}

// split pre-tokenises bytes lo to hi of the normalised text.
func (b *bertText) split(s *scratch, lo, hi int) {
	emit := func(lo, hi int) {
		if lo < hi {
			s.words = append(s.words, word{int32(lo), int32(hi), -1, -1})
		}
	}
	for i := lo; i < hi; {
		r, size := rune(s.norm.text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(s.norm.text[i:hi])
		}
		switch {
		case isWhite(r):
			emit(lo, i)
			lo = i + size
		case isPunct(r):
			emit(lo, i)
			emit(i, i+size)
			lo = i + size
		}
		i += size
	}
	emit(lo, hi)
}
