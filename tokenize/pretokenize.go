package tokenize

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

// quick splits seg as BERT does. Stretches between ASCII spaces are independent of each other, so
// each goes the fast way if it is plain ASCII.
func (p *pipeline) quick(s *scratch, seg string, base int) {
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
			p.fast(s, seg[i:end], base+i)
		} else {
			p.general(s, seg[i:end], base+i)
		}
		i = end
	}
}

// fast splits a stretch of printable ASCII without spaces.
func (p *pipeline) fast(s *scratch, seg string, base int) {
	start := len(s.ascii) // of seg in s.ascii
	if s.ascii = append(s.ascii, seg...); p.bert.lower {
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
