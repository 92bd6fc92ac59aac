package infill

import (
	"fmt"
	"unicode/utf8"

	"infill/tokenize"
)

// A Vocab names the tokens that may fill a blank.
type Vocab int

const (
	// VocabAll allows every token that can stand where the blank stands:
	// after white space or punctuation whatever begins a word, directly after
	// a letter or another blank whatever continues one. Special and unused
	// tokens never.
	VocabAll Vocab = iota
	// VocabWholeWords allows only whole words made of letters.
	VocabWholeWords
)

// supports holds, for one tokenizer, the ascending token ids that may fill
// each kind of blank.
type supports struct {
	begin []int32 // what may follow white space, punctuation, or the start of the text
	glued []int32 // what may follow a letter, a digit or another blank directly
	words []int32 // whole words
}

func newSupports(tok *tokenize.Tokenizer) *supports {
	s := &supports{words: tok.WholeWords()}
	for id := int32(0); int(id) < tok.VocabSize(); id++ {
		switch {
		case tok.IsSpecial(id) || tok.IsUnused(id):
		case tok.IsContinuation(id):
			s.glued = append(s.glued, id)
		default:
			s.begin = append(s.begin, id)
			// A whole word would have to stand apart; what can follow a letter
			// directly is punctuation, or a script written without spaces.
			if r, _ := utf8.DecodeRuneInString(tok.Token(id)); !isWordRune(r) {
				s.glued = append(s.glued, id)
			}
		}
	}
	return s
}

// of returns the tokens that may fill each blank of a template.
func (s *supports) of(t *Template, v Vocab) ([][]int32, error) {
	out := make([][]int32, len(t.Blanks))
	for i, b := range t.Blanks {
		switch {
		case v == VocabWholeWords:
			out[i] = s.words
		case t.glued(i):
			out[i] = s.glued
		default:
			out[i] = s.begin
		}
		if len(out[i]) == 0 {
			return nil, &TextError{b.Start, fmt.Sprintf("blank %d: the vocabulary holds nothing that fits there", i+1), ErrEmptySupport}
		}
	}
	return out, nil
}
