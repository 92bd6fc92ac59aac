package tokenize

import (
	"strings"
	"unicode/utf8"
)

// Decode joins the pieces of ids into text, as the decoder of the model's
// tokenizer does in Hugging Face's library. WordPiece: continuations lose their
// "##" and go on with the word before, other pieces are set apart by one space,
// except that none stands before ".", "?", "!" and ",". Byte-level BPE: the
// bytes of the pieces, with U+FFFD for what is not UTF-8. Unigram: marks become
// spaces, but those of the first piece are dropped. BPE with byte fallback: marks
// become spaces, and bytes characters. Special tokens are spelt
// out and ids without a token are left out.
//
// It cannot restore a text: case, accents and spacing may be lost. To fill a
// blank, splice words into the original text at the spans of its [Encoding].
func (t *Tokenizer) Decode(ids []int32) string {
	if t.MarksSpaces() {
		return t.decodeMarked(ids)
	}
	var b strings.Builder
	for _, id := range ids {
		token := t.Token(id)
		switch {
		case token == "":
		case t.IsContinuation(id) && b.Len() > 0:
			b.WriteString(token[len(t.continues):])
		case b.Len() == 0 || token == "." || token == "?" || token == "!" || token == ",":
			b.WriteString(token)
		default:
			b.WriteString(" " + token)
		}
	}
	return b.String()
}

func (t *Tokenizer) decodeMarked(ids []int32) string {
	if t.algorithm == charPairModel {
		return t.decodeFallback(ids)
	}
	var b strings.Builder
	for i, id := range ids {
		token := t.Token(id)
		if t.algorithm == bytePairModel {
			if raw, ok := rawPiece(token); ok {
				token = raw
			}
			b.WriteString(token)
			continue
		}
		space := " "
		if i == 0 {
			space = ""
		}
		b.WriteString(strings.ReplaceAll(token, t.mark, space))
	}
	return lossy(b.String())
}

// lossy puts U+FFFD in the place of each maximal part of a character, or byte,
// that is not UTF-8 (Unicode Standard, section 3.9).
func lossy(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			// The longest beginning of s that some character begins with.
			for n < len(s) && n < 3 && !utf8.FullRuneInString(s[:n+1]) {
				n++
			}
		}
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String()
}
