package tokenize

import (
	"strings"
	"unicode/utf8"
)

// MarksSpaces reports whether the pieces that follow a space carry a mark (Ġ
// in byte-level BPE, ▁ in the others), instead of a mark on pieces
// inside words (## in WordPiece).
func (t *Tokenizer) MarksSpaces() bool { return t.algorithm != wordPieceModel }

// Surface is what a piece looks like in a text: without the "##" of a
// continuation, or the mark of a space before it, which space reports. For
// byte-level BPE, and pieces such as <0xE2> of other models, it need not be
// UTF-8: a piece may be part of a character.
// Special and added tokens are as they are spelt.
func (t *Tokenizer) Surface(id int32) (text string, space bool) {
	token := t.Token(id)
	switch {
	case t.is(id, kindAdded):
		return token, false
	case t.algorithm == wordPieceModel:
		if t.IsContinuation(id) {
			token = token[len(t.continues):]
		}
		return token, false
	case t.algorithm == bytePairModel:
		if raw, ok := rawPiece(token); ok {
			token = raw
		}
		rest, space := strings.CutPrefix(token, " ")
		return rest, space
	}
	if b, ok := t.byteOf(id); ok {
		return string([]byte{b}), false
	}
	rest, space := strings.CutPrefix(token, t.mark)
	return strings.ReplaceAll(rest, t.mark, " "), space
}

// Apart reports whether a character is a word of its own wherever it stands, in vocabularies that
// mark the pieces inside words: punctuation, and ideographs if the tokenizer sets them apart.
func (t *Tokenizer) Apart(r rune) bool {
	chinese := false
	for _, n := range t.text.norm {
		bert, ok := n.(bertNormalizer)
		chinese = chinese || ok && bert.chinese
	}
	return isPunct(r) || chinese && isChinese(r)
}

// A Place says what stands directly before a word. It decides on the pieces of the word.
type Place int

const (
	// AfterSpace is the place after white space.
	AfterSpace Place = iota
	// AfterSymbol is the place after something else that ends a word, such as a bracket.
	AfterSymbol
	// AfterLetter is the place after a letter or digit: the word there goes on.
	AfterLetter
)

// Word turns a word, or several, into the pieces that they have in the middle
// of a text, at a place. The spans are not meant for use. WordPiece writes the
// same pieces after a space and after a symbol. After a letter the first word
// gets the pieces of the inside of a word, ##ing, if the vocabulary has such for
// all of it; otherwise, and for punctuation, it gets the others. Vocabularies
// that mark spaces have the mark after a space only.
func (t *Tokenizer) Word(text string, at Place) (Encoding, error) {
	switch {
	case at == AfterLetter || at == AfterSymbol && t.MarksSpaces():
		return t.encode(text, bare)
	case !t.MarksSpaces() || t.startSpaced:
		return t.Pieces(text)
	}
	return t.Pieces(" " + text)
}

// contextBytes is how much of a text before a word decides on its mark.
const contextBytes = 32

// FollowsSpace reports whether a word that directly follows the text before is
// given the mark of a space. At the start of a text that is so for Unigram
// models, not for byte-level ones; after punctuation as the tokenizer has it.
func (t *Tokenizer) FollowsSpace(before string) bool {
	if !t.MarksSpaces() {
		return false
	}
	if len(before) > contextBytes {
		cut := len(before) - contextBytes
		for !utf8.RuneStart(before[cut]) {
			cut++
		}
		before = before[cut:]
	}
	s := new(scratch)
	t.text.words(s, strings.ToValidUTF8(before, "\ufffd")+"x", 0)
	if len(s.words) == 0 {
		return false
	}
	last := string(s.bytes(s.words[len(s.words)-1]))
	return strings.HasSuffix(last, t.mark+"x")
}

// findMark learns from the text stage what marks spaces.
func (t *Tokenizer) findMark() {
	t.mark = " "
	if t.algorithm == charPairModel { // a normalizer writes it
		t.mark = t.text.normal(" ")
	}
	for _, s := range t.text.split {
		if m, ok := s.(metaspace); ok {
			t.mark = string(m.mark)
		}
	}
	t.startSpaced = t.FollowsSpace("")
}
