package text

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"infill/tokenize"
)

// A Template is a text with blanks, tokenized for one model. Nobody changes it.
type Template struct {
	Tok *tokenize.Tokenizer
	// Text has the blanks as they are spelt, without the backslashes that make text of what looks
	// like a blank.
	Text   string
	Blanks []Blank  // in the order of the text; at least one
	IDs    []int32  // the whole sequence, specials included, one mask token at every blank
	Window [2]int   // byte span of the text that the model sees
	Masked []string // the words that stood in the blanks, see BlankOut; nil where not known
	Shown  string   // what the model sees behind the text, see WithEnd

	Groups []Group
	Owner  []int   // of each blank, its group
	Places []Place // of each blank
	starts []int   // byte of text at which each id begins
	ends   []int   // byte of text at which it ends
	inner  []bool  // the id goes on with the word before it
}

// Parse finds the blanks of a text and tokenizes it; [Blank] has the grammar.
// A blank is also <mask>, a run of three or more underscores, or the tokenizer's own
// spelling of the mask token. A backslash before a blank makes it text: \[MASK].
// Errors are *Error with ErrEmpty, ErrNoBlank
// or ErrBlank, or come from the tokenizer (invalid UTF-8). Without a tokenizer it is ErrOption.
func Parse(tok *tokenize.Tokenizer, text string) (*Template, error) {
	p, err := Read(tok, text)
	if err != nil {
		return nil, err
	}
	return p.Template()
}

// Template is the template that Parse returns.
func (p *Plain) Template() (*Template, error) {
	err := CheckText(p.Text, "write a sentence with [MASK] or ___ where words are to be filled in")
	if err != nil {
		return nil, err
	}
	if len(p.Blanks) == 0 {
		return nil, p.noBlank()
	}
	return newTemplate(p.tok, p.Text, slices.Clone(p.Blanks))
}

// Source returns the text with these backslashes: what [Parse] reads as this template.
func (t *Template) Source() string { return escape(t.Text, t.Tok.Token(t.Tok.MaskID()), t.Blanks) }

// newTemplate makes the template of a text whose blanks are known.
func newTemplate(tok *tokenize.Tokenizer, text string, blanks []Blank) (*Template, error) {
	gs, err := groups(blanks)
	if err != nil {
		return nil, err
	}
	t, err := tokenized(tok, tok.EncodeBlanks, text, blanks)
	if err != nil {
		return nil, err
	}
	t.Groups, t.Owner = gs, make([]int, len(blanks))
	for g := range gs {
		for _, b := range gs[g].Blanks {
			t.Owner[b] = g
		}
	}
	t.Places = placesOf(BoundaryOf(tok), text, blanks)
	for i := range t.Places {
		if t.Places[i].Tail = t.tail(i); len(t.Places[i].Tail) > 0 {
			t.Places[i].Head = t.head(i)
		}
	}
	return t, nil
}

// head returns the pieces of the letters that directly precede a blank. There are none if another
// blank is part of their word, or if the first of them is in one piece with what precedes it.
func (t *Template) head(i int) []int32 {
	start := t.Blanks[i].Start - len(t.Places[i].Before)
	if i > 0 && t.Blanks[i-1].End == start {
		return nil
	}
	to := t.Blanks[i].Pos
	from := to
	for from > 1 && t.starts[from-1] >= start { // piece 0 is a special token
		from--
	}
	if from == to || t.starts[from] != start {
		return nil
	}
	return t.IDs[from:to]
}

// tail returns the pieces of the number that directly follows a blank.
func (t *Template) tail(i int) []int32 {
	after := t.Places[i].After
	if !unicode.IsDigit(firstRune(after)) {
		return nil
	}
	from := t.Blanks[i].Pos + 1
	to := from
	for to < len(t.IDs) && t.starts[to] < t.Blanks[i].End+len(after) {
		to++
	}
	return t.IDs[from:to]
}

// Spelt is blank i as it is written, or its beginning if it is long.
func (t *Template) Spelt(i int) string {
	return asWritten(t.Text[t.Blanks[i].Start:t.Blanks[i].End])
}

// PlacesIn are the places of the blanks of a group.
func (t *Template) PlacesIn(g *Group) []Place {
	out := make([]Place, len(g.Blanks))
	for i, b := range g.Blanks {
		out[i] = t.Places[b]
	}
	return out
}

// tokenized cuts the text into pieces, see Encode, and finds the mask tokens of the
// blanks in the ids: tokenizers split the text at special tokens first, so
// nothing outside a blank changes.
func tokenized(tok *tokenize.Tokenizer, by func(string) (tokenize.Encoding, error), text string,
	blanks []Blank) (*Template, error) {
	enc, err := encode(tok, by, text, blanks)
	if err != nil {
		return nil, err
	}
	t := &Template{
		Tok: tok, Text: text, Blanks: blanks, IDs: enc.IDs, Window: [2]int{0, len(text)},
		inner: enc.Continuation,
	}
	i := 0
	for p, id := range enc.IDs {
		t.starts, t.ends = append(t.starts, enc.Spans[p][0]), append(t.ends, enc.Spans[p][1])
		if id == tok.MaskID() {
			if i < len(blanks) {
				blanks[i].Pos = p
			}
			i++
		}
	}
	if i != len(blanks) {
		msg := fmt.Sprintf("the tokenizer makes %d mask tokens of %d blanks", i, len(blanks))
		return nil, &Error{-1, msg, ErrBlank}
	}
	return t, nil
}

// Unfillable is the error of a blank that nothing may fill.
func (t *Template) Unfillable(blank int, why string) error {
	why = fmt.Sprintf("blank %d, %s: %s", blank+1, t.Spelt(blank), why)
	return &Error{t.Blanks[blank].Start, why, ErrEmptySupport}
}

// inNumber reports whether a blank is part of a number: a digit touches it, with a separator of
// numbers, times and dates between or none, or a sign that goes with numbers does.
func (t *Template) inNumber(i int) bool {
	const between = ".,:/-"
	before, after := t.Text[:t.Blanks[i].Start], t.Text[t.Blanks[i].End:]
	last, first := lastRune(before), firstRune(after)
	if strings.ContainsRune("$€£¥№", last) || strings.ContainsRune("%‰°", first) {
		return true
	}
	if strings.ContainsRune(between, last) {
		last = lastRune(before[:len(before)-1])
	}
	if strings.ContainsRune(between, first) {
		first = firstRune(after[1:])
	}
	return unicode.IsDigit(last) || unicode.IsDigit(first)
}

// VocabOf is what fills the blanks of a group where others take v: what they say of it, and words
// with digits where a number is begun, or stood before.
func (t *Template) VocabOf(g *Group, v Vocab, original []string) Vocab {
	number := func(b int) bool {
		return t.inNumber(b) || len(original) == len(t.Blanks) && hasDigit(original[b])
	}
	switch {
	case g.Number:
		return vocabNumbers
	case g.Pattern != nil && g.MaxWords > 0: // of any pieces
		if asksForDigits(g.Pattern) {
			return VocabDigits
		}
		return VocabWords
	case g.Pattern != nil && asksForDigits(g.Pattern):
		return vocabWholeNumbers
	case g.Pattern != nil:
		return VocabWholeWords
	case g.Punctuation:
		return VocabAll
	case v == VocabWords && slices.ContainsFunc(g.Blanks, number):
		return VocabDigits
	}
	return v
}

// asksForDigits reports whether an expression asks for digits: it has some, or a class of few
// characters among which they are, such as [a-z0-9].
func asksForDigits(re *regexp.Regexp) bool {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	return err == nil && asksDigits(tree)
}

func asksDigits(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return hasDigit(string(re.Rune))
	case syntax.OpCharClass:
		size, digit := 0, false
		for i := 0; i+1 < len(re.Rune); i += 2 {
			size += int(re.Rune[i+1]-re.Rune[i]) + 1
			digit = digit || re.Rune[i] <= '9' && re.Rune[i+1] >= '0'
		}
		return digit && size < 100
	}
	return slices.ContainsFunc(re.Sub, asksDigits)
}

// Undecided reports whether words alone fill the blanks of a group of a VocabOf although numbers
// could: nothing asks for either, and the blanks are words of their own.
func (t *Template) Undecided(g *Group, v Vocab) bool {
	return g.bare() && v == VocabWords && t.wordsApart(g)
}

// wordsApart reports whether the blanks of a group are words of their own.
func (t *Template) wordsApart(g *Group) bool {
	return !slices.ContainsFunc(t.PlacesIn(g), func(p Place) bool {
		return p.Before != "" || p.After != "" || p.Neighbour || p.Ideographs
	})
}

// asWritten is a blank as written, or its beginning if it does not end soon. It may be one that
// cannot be read.
func asWritten(s string) string {
	const most = 200
	n := spelt(s)
	if n <= most {
		return s[:n]
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// spelt is the length of the blank that s begins with: up to the end of its expression, to the
// bracket that closes its own, or to the first one; all of s without any.
func spelt(s string) int {
	if i := strings.IndexAny(s, "/|]"); i >= 0 && s[i] == '/' {
		for i++; i+1 < len(s); i++ {
			if s[i] == '\\' {
				i++
			} else if s[i:i+2] == "/]" {
				return i + 2
			}
		}
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	if e := strings.IndexByte(s, ']'); e >= 0 {
		return e + 1
	}
	return len(s)
}
