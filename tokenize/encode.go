package tokenize

import (
	"strings"
	"unicode/utf8"
)

// An Encoding is a text as pieces. All slices have the same length.
type Encoding struct {
	IDs    []int32
	Tokens []string // spelling of each id, with the "##" of a continuation

	// Spans are the bytes of the original text that each piece stands for,
	// [start, end). Starts never decrease, nor do ends, and both lie between
	// characters. Special tokens that Encode adds have empty spans, at 0
	// before the text and at its length after it. Two pieces share a span if
	// one character became both, as the Jamo of a Korean syllable do. An
	// added token's span is its spelling, without white space that it swallows;
	// a piece that stands for a space and a word has the word's. Pieces of bytes
	// inside one character share the character's span.
	Spans [][2]int

	// Special marks the special tokens, whether added or spelt out in the text. A
	// word that is unknown is not special though it has the id of [UNK].
	Special []bool

	// Continuation marks the pieces that go on with the word of the piece
	// before; WordPiece writes them with "##".
	Continuation []bool

	// Words numbers the words from 0: pieces of one word share a number. It
	// is -1 for special tokens that Encode adds. A special or added token in
	// the text is a word.
	Words []int32
}

// Len is the number of pieces.
func (e Encoding) Len() int { return len(e.IDs) }

// Encode turns text into pieces, between the special tokens that the model
// wants around a text ([CLS] and [SEP]). Special tokens are recognised
// anywhere in the text by their exact spelling. Nothing is cut off: compare
// the length with [Tokenizer.MaxLength].
//
// The error is a [*TextError] if text is not UTF-8, longer than 64 MiB (8 MiB
// unless the tokenizer is WordPiece), or made many times longer by a normalizer.
func (t *Tokenizer) Encode(text string) (Encoding, error) {
	return t.encode(text, around)
}

// EncodeBlanks is Encode of a text in which mask tokens stand for words. What
// directly follows one is cut as it would be after a word: "[MASK]1" has the
// piece ##1, as "page1" has. Unigram models otherwise treat it as if it came
// after a space, and "[MASK]." would end with another piece than "mat." does.
func (t *Tokenizer) EncodeBlanks(text string) (Encoding, error) {
	return t.encode(text, around|blanks)
}

// Pieces is Encode without the special tokens around the text.
func (t *Tokenizer) Pieces(text string) (Encoding, error) {
	return t.encode(text, 0)
}

// How a text is encoded, as bits.
type manner int

const (
	around manner = 1 << iota // with the special tokens around it
	bare                      // its start directly follows a word
	blanks                    // mask tokens stand for words
)

func (t *Tokenizer) encode(text string, how manner) (Encoding, error) {
	limit := maxTextBytes
	if t.MarksSpaces() {
		limit = maxMarkedBytes
	}
	if len(text) > limit {
		return Encoding{}, &TextError{limit, problem(ErrTooLarge,
			"%d bytes, at most %d are accepted; split the text", len(text), limit)}
	}
	if !utf8.ValidString(text) {
		return Encoding{}, &TextError{invalidAt(text), ErrInvalidUTF8}
	}
	s := scratches.Get().(*scratch)
	defer func() {
		if cap(s.norm.text) <= maxScratch {
			scratches.Put(s)
		}
	}()
	s.bare = how&bare != 0
	b := builder{t: t, s: s, text: text}
	b.grow(len(text)/4 + 8)
	if how&around != 0 {
		for _, id := range t.prefix {
			b.add(id, [2]int{}, true, false, -1)
		}
	}
	done := 0
	if t.added != nil {
		for _, m := range t.added.find(nil, text) {
			if err := b.segment(text[done:m.from], done); err != nil {
				return Encoding{}, err
			}
			b.add(m.id, [2]int{m.lo, m.hi}, t.IsSpecial(m.id), false, b.words)
			b.words++
			done = m.to
			s.bare = how&blanks != 0 && m.id == t.MaskID()
		}
	}
	if err := b.segment(text[done:], done); err != nil {
		return Encoding{}, err
	}
	if how&around != 0 {
		for _, id := range t.suffix {
			b.add(id, [2]int{len(text), len(text)}, true, false, -1)
		}
	}
	return b.e, nil
}

// tidy widens a span to whole characters, and takes white space off its ends
// if there is anything else in it.
func tidy(text string, span [2]int) [2]int {
	lo, hi := span[0], span[1]
	for lo > 0 && !utf8.RuneStart(text[lo]) {
		lo--
	}
	for hi < len(text) && !utf8.RuneStart(text[hi]) {
		hi++
	}
	inside := strings.TrimLeftFunc(text[lo:hi], isWhite)
	if inside == "" {
		return [2]int{lo, hi}
	}
	lo = hi - len(inside)
	return [2]int{lo, lo + len(strings.TrimRightFunc(inside, isWhite))}
}

// invalidAt is the offset of the first byte that is not UTF-8.
func invalidAt(text string) int {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			return i
		}
	}
	return len(text)
}

// builder collects an encoding.
type builder struct {
	t     *Tokenizer
	s     *scratch
	text  string
	e     Encoding
	words int32
}

func (b *builder) grow(n int) {
	b.e = Encoding{
		IDs: make([]int32, 0, n), Tokens: make([]string, 0, n), Spans: make([][2]int, 0, n),
		Special: make([]bool, 0, n), Continuation: make([]bool, 0, n), Words: make([]int32, 0, n),
	}
}

func (b *builder) add(id int32, span [2]int, special, continuation bool, word int32) {
	b.e.IDs = append(b.e.IDs, id)
	b.e.Tokens = append(b.e.Tokens, b.t.tokens[id])
	b.e.Spans = append(b.e.Spans, span)
	b.e.Special = append(b.e.Special, special)
	b.e.Continuation = append(b.e.Continuation, continuation)
	b.e.Words = append(b.e.Words, word)
}

// segment adds a stretch of text, at byte base, that has no special token in it.
func (b *builder) segment(seg string, base int) error {
	if seg == "" {
		return nil
	}
	s := b.s
	s.reset()
	if s.bare {
		first, _ := utf8.DecodeRuneInString(seg)
		s.bare = !isWhite(first)
	}
	bare := s.bare // text stages that mark spaces take it back
	b.t.text.words(s, seg, base)
	if s.err != nil {
		return s.err
	}
	for n, w := range s.words {
		if w.id >= 0 {
			b.add(w.id, s.span(w, 0, w.hi-w.lo), b.t.IsSpecial(w.id), false, b.words)
			b.words++
			continue
		}
		goesOn := false
		if n == 0 && bare && b.touches(w, seg, base) {
			s.pieces, goesOn = b.t.model.(*wordPiece).rest(s.pieces[:0], s.bytes(w))
		}
		if !goesOn {
			var err error
			if s.pieces, err = b.t.model.pieces(s.pieces[:0], s.bytes(w)); err != nil {
				return err
			}
		}
		for i, p := range s.pieces {
			span := s.span(w, p.lo, p.hi)
			if b.t.MarksSpaces() {
				span = tidy(b.text, span)
			}
			inside := i > 0 || goesOn
			if inside && b.t.algorithm == charPairModel && strings.HasPrefix(b.t.tokens[p.id], b.t.mark) {
				inside = false // the stretch is one word of the text stage, and many in the text
				b.words++
			}
			b.add(p.id, span, false, inside, b.words)
		}
		if len(s.pieces) > 0 {
			b.words++
		}
	}
	return nil
}

// touches reports whether w, the first word of a segment at byte base, would be
// one word with a word directly before the segment. Vocabularies that mark
// spaces show that by the missing mark.
func (b *builder) touches(w word, seg string, base int) bool {
	if b.t.MarksSpaces() {
		return false
	}
	before := seg[:b.s.span(w, 0, 1)[0]-base] // characters that the normalizer drops
	first, _ := utf8.DecodeRune(b.s.bytes(w))
	return !b.t.Apart(first) && strings.IndexFunc(before, isWhite) < 0
}
