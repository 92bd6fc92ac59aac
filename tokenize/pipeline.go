package tokenize

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// pipeline is the text stage. It turns a stretch of text without special tokens into words for the
// model stage by normalizers, one after the other, and then splitters.
type pipeline struct {
	norm  []normalizer
	plain func(seg string) bool // norm surely leaves seg as it is; nil: never
	split []splitter
	bytes *byteLevel      // the last splitter, if it is byte level; else nil
	added *matcher        // added tokens to find in the normalised text; nil if none
	bert  *bertNormalizer // of bertText, which has a faster way; else nil
}

// bertText is the text stage of BERT: bertNormalizer, then a split at white
// space and around punctuation.
func bertText(n bertNormalizer) *pipeline {
	return &pipeline{norm: []normalizer{n}, split: []splitter{atSpaces{}, atPunctuation{}}, bert: &n}
}

// straighten puts the normalizer of Straight before the others.
func (p *pipeline) straighten() {
	p.norm = append([]normalizer{straight{}}, p.norm...)
	if p.plain != nil {
		p.plain = func(seg string) bool {
			return strings.IndexFunc(seg, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
		}
	}
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
	switch {
	case p.bert != nil && p.added == nil: // added tokens may hold spaces
		p.quick(s, seg, base)
	case p.bytes != nil && len(p.split) == 0 && (len(p.norm) == 0 || p.plain != nil && p.plain(seg)):
		p.direct(s, seg, base)
	default:
		p.general(s, seg, base)
	}
}

// general splits any stretch of text.
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
		lo := len(s.norm.text)
		s.norm.put(chars[at[m.lo]:at[m.hi]])
		s.words = append(s.words, word{int32(lo), int32(len(s.norm.text)), -1, m.id})
		done = m.to
	}
	p.stretch(s, chars[at[done]:])
}

// direct splits text that no normalizer changes, without a detour through
// characters.
func (p *pipeline) direct(s *scratch, seg string, base int) {
	part := func(lo, hi int) {
		if lo < hi {
			start := len(s.ascii)
			if !p.bytes.prefix || s.bare || seg[lo] == ' ' {
				s.ascii = append(s.ascii, seg[lo:hi]...)
				p.bytes.words(s.ascii[start:], func(a, b int) {
					s.words = append(s.words, word{int32(start + a), int32(start + b), int32(base + lo + a), -1})
				})
				s.bare = false
				return
			}
			chars, _ := p.normalise(seg[lo:hi], base+lo) // nothing is changed
			p.stretch(s, chars)
		}
	}
	if p.added == nil {
		part(0, len(seg))
		return
	}
	done := 0
	for _, m := range p.added.find(nil, seg) {
		part(done, m.from)
		start := len(s.ascii)
		s.ascii = append(s.ascii, seg[m.lo:m.hi]...)
		s.words = append(s.words, word{int32(start), int32(len(s.ascii)), int32(base + m.lo), m.id})
		done = m.to
	}
	part(done, len(seg))
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
	for i, part := range parts {
		if p.bytes != nil && p.bytes.prefix && (i > 0 || !bare) && part[0].r != ' ' {
			first := part[0]
			first.r = ' '
			part = append([]char{first}, part...)
		}
		lo := len(s.norm.text)
		s.norm.put(part)
		emit := func(a, b int) {
			s.words = append(s.words, word{int32(lo + a), int32(lo + b), -1, -1})
		}
		if p.bytes != nil {
			p.bytes.words(s.norm.text[lo:], emit)
		} else {
			emit(0, len(s.norm.text)-lo)
		}
	}
}

// put appends characters.
func (n *normalised) put(chars []char) {
	for _, c := range chars {
		n.add(c.r, c)
	}
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

// plainFor returns a test that is true of text that none of the normalizers
// changes; nil if there is no simple one.
func plainFor(norms []normalizer) func(string) bool {
	for _, n := range norms {
		if f, ok := n.(form); !ok || f.compatible || !f.compose {
			return nil
		}
	}
	return func(seg string) bool {
		for i := range len(seg) {
			if seg[i] >= 0xCC { // U+0300 and above
				return false
			}
		}
		return true
	}
}
