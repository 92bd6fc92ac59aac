package infill

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"infill/tokenize"
)

// A Blank is a place in a text where one token is to be filled in.
type Blank struct {
	Start, End int // byte span of the blank's spelling in Template.Text
	Pos        int // index of its mask token in Template.IDs
}

// A Template is a text with blanks, tokenized for one model.
type Template struct {
	Text   string
	Blanks []Blank // in the order of the text; at least one
	IDs    []int32 // the whole sequence, specials included, mask tokens at the blanks
}

// minUnderscores is the length from which a run of underscores is a blank:
// shorter runs occur in ordinary text (__init__, snake_case).
const minUnderscores = 3

// Parse finds the blanks of a text and tokenizes it.
//
// A blank is [MASK], a run of three or more underscores, or the tokenizer's
// own spelling of the mask token; each stands for one token. Errors are
// *TextError with ErrEmpty, ErrNoBlank or ErrBlank, or come from the tokenizer
// (invalid UTF-8).
func Parse(tok *tokenize.Tokenizer, text string) (*Template, error) {
	if i := invalidUTF8(text); i >= 0 {
		return nil, &TextError{i, "save the text as UTF-8", tokenize.ErrInvalidUTF8}
	}
	if strings.TrimSpace(text) == "" {
		return nil, &TextError{-1, "write a sentence with [MASK] or ___ where words are to be filled in", ErrEmpty}
	}
	mask := tok.Token(tok.MaskID())
	blanks, err := findBlanks(text, mask)
	if err != nil {
		return nil, err
	}
	if len(blanks) == 0 {
		return nil, noBlank(text)
	}
	return encode(tok, text, mask, blanks)
}

// findBlanks returns the byte spans of the blanks of a text.
func findBlanks(text, mask string) ([]Blank, error) {
	var blanks []Blank
	for i := 0; i < len(text); {
		n, err := blankAt(text[i:], mask)
		if err != nil {
			return nil, &TextError{i, err.Error(), ErrBlank}
		}
		if n > 0 {
			blanks = append(blanks, Blank{Start: i, End: i + n})
			i += n
			continue
		}
		_, n = utf8.DecodeRuneInString(text[i:])
		i += n
	}
	return blanks, nil
}

// blankAt returns the length of the blank that s starts with, 0 if none.
func blankAt(s, mask string) (int, error) {
	const open = "[MASK"
	switch {
	case strings.HasPrefix(s, mask):
		return len(mask), nil
	case strings.HasPrefix(s, open+"]"):
		return len(open) + 1, nil
	case strings.HasPrefix(s, open) && len(s) > len(open) && strings.IndexByte(":*|/", s[len(open)]) >= 0:
		spelt := s
		if e := strings.IndexByte(s, ']'); e >= 0 {
			spelt = s[:e+1]
		}
		return 0, fmt.Errorf("%q: options inside a blank are not known to this version; write [MASK] once for every token", spelt)
	}
	n := 0
	for n < len(s) && s[n] == '_' {
		n++
	}
	if n >= minUnderscores {
		return n, nil
	}
	return 0, nil
}

func noBlank(text string) error {
	msg := "write [MASK] or ___ where a word is to be filled in"
	if i := strings.Index(strings.ToLower(text), "[mask]"); i >= 0 {
		msg = "write [MASK] in capitals"
	}
	return &TextError{-1, msg, ErrNoBlank}
}

// encode tokenizes the text with every blank spelt as the tokenizer's mask
// token, and finds the mask tokens again in the ids: tokenizers split the text
// at special tokens first, so nothing outside a blank changes.
func encode(tok *tokenize.Tokenizer, text, mask string, blanks []Blank) (*Template, error) {
	var b strings.Builder
	last := 0
	for _, bl := range blanks {
		b.WriteString(text[last:bl.Start])
		b.WriteString(mask)
		last = bl.End
	}
	b.WriteString(text[last:])
	enc, err := tok.Encode(b.String())
	if err != nil {
		return nil, err
	}
	t := &Template{Text: text, Blanks: blanks, IDs: enc.IDs}
	i := 0
	for p, id := range enc.IDs {
		if id != tok.MaskID() {
			continue
		}
		if i < len(blanks) {
			blanks[i].Pos = p
		}
		i++
	}
	if i != len(blanks) {
		return nil, &TextError{-1, fmt.Sprintf("the tokenizer makes %d mask tokens of %d blanks", i, len(blanks)), ErrBlank}
	}
	return t, nil
}

// Positions returns the token positions of the blanks.
func (t *Template) Positions() []int {
	p := make([]int, len(t.Blanks))
	for i, b := range t.Blanks {
		p[i] = b.Pos
	}
	return p
}

// glued tells whether blank i continues a word: it follows another blank, or a
// letter or digit, with nothing between.
func (t *Template) glued(i int) bool {
	start := t.Blanks[i].Start
	if i > 0 && t.Blanks[i-1].End == start {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(t.Text[:start])
	return start > 0 && isWordRune(r)
}

// isWordRune tells whether a rune is part of a word that the next letter would
// continue. Ideographs are words of their own.
func isWordRune(r rune) bool {
	if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func invalidUTF8(s string) int {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}
