package infill

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"infill/mlm"
	"infill/tokenize"
)

// A Template is a text with blanks, tokenized for one model.
type Template struct {
	Text   string
	Blanks []Blank // in the order of the text; at least one
	IDs    []int32 // the whole sequence, specials included, one mask token at every blank
	// Window is the byte span of Text that the model sees: all of it, or
	// what is left of a text too long for the model, see [Template.Cut].
	Window [2]int

	groups []group
	starts []int  // byte of Text at which each id begins
	ends   []int  // byte of Text at which it ends
	inner  []bool // the id goes on with the word before it
	marks  bool   // the vocabulary marks spaces
	bare   []bool // of each blank, if marks: a word there gets no mark of a space
}

// Parse finds the blanks of a text and tokenizes it; [Blank] has the grammar.
// A blank is also a run of three or more underscores, or the tokenizer's own
// spelling of the mask token. Errors are *TextError with ErrEmpty, ErrNoBlank
// or ErrBlank, or come from the tokenizer (invalid UTF-8).
func Parse(tok *tokenize.Tokenizer, text string) (*Template, error) {
	if err := checkText(text, "write a sentence with [MASK] or ___ where words are to be filled in"); err != nil {
		return nil, err
	}
	mask := tok.Token(tok.MaskID())
	blanks, err := findBlanks(text, mask)
	if err != nil {
		return nil, err
	}
	if len(blanks) == 0 {
		return nil, noBlank(text)
	}
	gs, err := groups(blanks)
	if err != nil {
		return nil, err
	}
	t, err := encode(tok, text, mask, blanks)
	if err != nil {
		return nil, err
	}
	t.groups = gs
	if t.marks = tok.MarksSpaces(); t.marks {
		for i, b := range blanks {
			touches := i > 0 && blanks[i-1].End == b.Start
			t.bare = append(t.bare, touches || !tok.FollowsSpace(text[:b.Start]))
		}
	}
	return t, nil
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
	enc, err := tok.EncodeBlanks(b.String())
	if err != nil {
		return nil, err
	}
	t := &Template{Text: text, Blanks: blanks, IDs: enc.IDs, Window: [2]int{0, len(text)}, inner: enc.Continuation}
	// Bytes of what was tokenized, in bytes of the text: every blank before
	// shifts them by the difference between its spelling and the mask's.
	i, shift := 0, 0
	for p, id := range enc.IDs {
		t.starts = append(t.starts, enc.Spans[p][0]+shift)
		if id == tok.MaskID() {
			if i < len(blanks) {
				blanks[i].Pos = p
				shift += blanks[i].End - blanks[i].Start - len(mask)
			}
			i++
		}
		t.ends = append(t.ends, enc.Spans[p][1]+shift)
	}
	if i != len(blanks) {
		return nil, &TextError{-1, fmt.Sprintf("the tokenizer makes %d mask tokens of %d blanks", i, len(blanks)), ErrBlank}
	}
	return t, nil
}

// Positions returns the token positions of the blanks in IDs.
func (t *Template) Positions() []int {
	p := make([]int, len(t.Blanks))
	for i, b := range t.Blanks {
		p[i] = b.Pos
	}
	return p
}

// Cut returns the template with no more than limit ids, the special tokens at
// both ends and room further tokens at the blanks included: the piece of the
// text around the blanks that is as long as possible, with as many pieces
// before the first blank as after the last (more on one side where the other
// has fewer), beginning and ending with whole words. Text and blanks stay; only
// what the model sees is cut, as Window says. A template that fits is returned
// as it is. The error is mlm.ErrTooLong if the blanks are too far apart.
func (t *Template) Cut(limit, room int) (*Template, error) {
	n := len(t.IDs)
	if limit <= 0 || n+room <= limit {
		return t, nil
	}
	// Without the special tokens at both ends the ids are 1 … n−2.
	first, last := t.Blanks[0].Pos, t.Blanks[len(t.Blanks)-1].Pos
	free := limit - room - 2 - (last - first + 1)
	if free < 0 {
		return nil, &TextError{t.Blanks[0].Start, fmt.Sprintf("the blanks span %d pieces, the model takes %d with the special tokens; put fewer blanks into one text", last-first+1+room, limit), mlm.ErrTooLong}
	}
	before, after := first-1, n-2-last
	left := min(before, max(free/2, free-after))
	right := min(after, free-left)
	a, b := first-left, last+right+1 // ids a … b−1 stay
	for a < first && a > 1 && t.inner[a] {
		a++
	}
	for b > last+1 && b < n-1 && t.inner[b] {
		b--
	}
	cut := *t
	cut.Window = [2]int{t.starts[a], t.ends[b-1]}
	cut.IDs = append(append([]int32{t.IDs[0]}, t.IDs[a:b]...), t.IDs[n-1])
	cut.starts = append(append([]int{t.starts[0]}, t.starts[a:b]...), t.starts[n-1])
	cut.ends = append(append([]int{t.ends[0]}, t.ends[a:b]...), t.ends[n-1])
	cut.inner = append(append([]bool{false}, t.inner[a:b]...), false)
	cut.Blanks = append([]Blank(nil), t.Blanks...)
	for i := range cut.Blanks {
		cut.Blanks[i].Pos -= a - 1
	}
	return &cut, nil
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

// inside tells whether the first token of a group does not begin a word: its
// blank continues one. Where the vocabulary marks spaces: whether the first
// token is one without the mark; of tied blanks, if all of them ask for such.
func (t *Template) inside(g *group) bool {
	if !t.marks {
		return t.glued(g.blanks[0])
	}
	for _, b := range g.blanks {
		if !t.bare[b] {
			return false
		}
	}
	return true
}

// movable tells whether a token with the mark of a space can stand at blank i
// though the tokenizer would put one without it there: at the start of a text
// and after white space the two look the same.
func (t *Template) movable(i int) bool {
	r, n := utf8.DecodeLastRuneInString(t.Text[:t.Blanks[i].Start])
	return n == 0 || unicode.IsSpace(r)
}

// isWordRune tells whether a rune is part of a word that the next letter would
// continue. Ideographs are words of their own.
func isWordRune(r rune) bool {
	if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}
