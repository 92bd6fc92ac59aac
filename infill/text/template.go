package text

import (
	"fmt"
	"slices"
	"unicode"

	"infill/mlm"
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

// Template is that of Parse.
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

// Apart is the text with these blanks as Hugging Face's pipeline cuts it: what directly follows a
// blank begins a word. The template has no rules, and cannot be filled by an engine.
func (t *Template) Apart() (*Template, error) {
	return tokenized(t.Tok, t.Tok.Encode, t.Text, slices.Clone(t.Blanks))
}

// Positions returns the token positions of the blanks in IDs.
func (t *Template) Positions() []int {
	p := make([]int, len(t.Blanks))
	for i, b := range t.Blanks {
		p[i] = b.Pos
	}
	return p
}

// Stretch makes the sequence in which the blanks of group g are lengths[g] mask tokens, and says
// which of the masks each blank begins with.
func (t *Template) Stretch(lengths []int) (*mlm.Sentence, []int) {
	s := &mlm.Sentence{}
	start := make([]int, len(t.Blanks))
	last := 0
	for b, bl := range t.Blanks {
		s.IDs = append(s.IDs, t.IDs[last:bl.Pos]...)
		last = bl.Pos + 1
		start[b] = len(s.Blanks)
		for range lengths[t.Owner[b]] {
			s.Blanks = append(s.Blanks, len(s.IDs))
			s.IDs = append(s.IDs, t.IDs[bl.Pos])
		}
	}
	s.IDs = append(s.IDs, t.IDs[last:]...)
	return s, start
}

// Unfillable is the error of a blank that nothing may fill.
func (t *Template) Unfillable(blank int, why string) error {
	why = fmt.Sprintf("blank %d, %s: %s", blank+1, t.Spelt(blank), why)
	return &Error{t.Blanks[blank].Start, why, ErrEmptySupport}
}

// Cut returns the template with no more than limit ids, the special tokens at
// both ends and room further tokens at the blanks included: the piece of the
// text around the blanks that is as long as possible, with as many pieces
// before the first blank as after the last (more on one side where the other
// has fewer), beginning and ending with whole words. Text and blanks stay; only
// what the model sees is cut, as Window says. A template that fits is returned
// as it is, and so is any with a limit of 0 or less. Room is 0 or more. The error is mlm.ErrTooLong
// if the blanks are too far apart.
func (t *Template) Cut(limit, room int) (*Template, error) {
	room = max(room, 0)
	n := len(t.IDs)
	if limit <= 0 || n+room <= limit {
		return t, nil
	}
	// Without the special tokens at both ends the ids are 1 … n−2.
	first, last := t.Blanks[0].Pos, t.Blanks[len(t.Blanks)-1].Pos
	free := limit - room - 2 - (last - first + 1)
	if free < 0 {
		return nil, &Error{t.Blanks[0].Start, fmt.Sprintf("the blanks span %d pieces, the model "+
			"takes %d with the special tokens; put fewer blanks into one text",
			last-first+1+room, limit), mlm.ErrTooLong}
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
	cut.Window = [2]int{t.starts[a], min(t.ends[b-1], len(t.Text))}
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
