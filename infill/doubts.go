package infill

import (
	"infill/infill/internal/text"
	"infill/tokenize"
)

// A Doubt is what may be wrong with a text that is worked on all the same.
type Doubt struct {
	Code    string // DoubtBlank
	Message string // what is there, and what to write
}

// DoubtBlank is the code of what looks like a blank and is none.
const DoubtBlank = "near_blank"

// Doubts are those about a text, each code once: nil without any, and for a text that
// [Parse] refuses for its spelling.
func Doubts(tok *tokenize.Tokenizer, s string) []Doubt {
	p, err := text.ParseBlanks(s, tok.Token(tok.MaskID()))
	if err != nil || p.Near == nil {
		return nil
	}
	return []Doubt{{DoubtBlank, p.Near.Msg}}
}

// LooksBlank reports whether a text has what begins a blank with every model: [MASK, <mask> or ___.
func LooksBlank(s string) bool { return text.LooksBlank(s) }
