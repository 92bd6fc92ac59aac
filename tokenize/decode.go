package tokenize

import "strings"

// Decode joins the pieces of ids into text: continuations lose their "##" and
// go on with the word before, other pieces are set apart by one space, except
// that none stands before ".", "?", "!" and ",". Special tokens are spelt out
// and ids without a token are left out.
//
// This is the WordPiece decoder of Hugging Face. It cannot restore a text:
// case, accents and spacing are lost. To fill a blank, splice words into the
// original text at the spans of its [Encoding].
func (t *Tokenizer) Decode(ids []int32) string {
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
