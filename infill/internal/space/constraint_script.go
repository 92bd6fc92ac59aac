package space

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"infill/infill/text"
	"infill/tokenize"
)

// scripted fills blanks beside ideographs and kana with such characters, unless they take any token
// or have an expression of their own.
type scripted struct{ base }

// scriptKey stands for the answers at one slot: only ideographs, or none.
type scriptKey struct{ only bool }

func (c *scripted) alone(s slot) (func(text.Phrase) bool, any) {
	if s.list || s.vocab == text.VocabAll {
		return nil, nil
	}
	beside, inWord := false, false
	for i, b := range s.Blanks {
		beside = beside || c.t.Places[b].Ideographs
		inWord = inWord || s.forms[i] == tokenize.AfterLetter
	}
	switch {
	case beside && s.Pattern == nil:
		return c.fits, scriptKey{true}
	case !beside && inWord && s.pos == 0 && s.vocab == text.VocabWholeWords:
		// Directly after a letter they would be words of their own.
		return func(p text.Phrase) bool {
			return !text.IsIdeograph(first(p)) || c.t.Tok.IsContinuation(p.IDs[0])
		}, scriptKey{false}
	}
	return nil, nil
}

// first is the first character of a token.
func first(p text.Phrase) rune {
	r, _ := utf8.DecodeRuneInString(p.Text)
	return r
}

// fits reports whether a token is of ideographs and kana, and one that the tokenizer makes. Those
// that it sets apart begin a word.
func (c *scripted) fits(p text.Phrase) bool {
	if tok := c.t.Tok; tok.IsContinuation(p.IDs[0]) && tok.Apart(first(p)) {
		return false
	}
	return p.Text != "" && !strings.ContainsFunc(p.Text, func(r rune) bool {
		return !text.IsIdeograph(r) && r != 'ー' && !unicode.IsMark(r)
	})
}
