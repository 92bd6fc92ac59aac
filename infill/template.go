package infill

import (
	"regexp"
	"slices"

	"infill/infill/internal/text"
	"infill/tokenize"
)

// A Blank is a place in a text that is to be filled in, with what its
// spelling says of the filling:
//
//	[MASK]  <mask>  ___  one token
//	[MASK:a]           tied: all blanks called a get the same filling
//	[MASK*3]           three tokens
//	[MASK*1-3]         one to three tokens
//	[MASK.]            one token, which may be punctuation
//	[MASK#]            a number
//	[MASK|red|green]   one of these words or phrases
//	[MASK/^[a-z]+ing$/]  a whole word that matches the regular expression
//
// Options may be combined, each once, in the order name, count, and then #, dot,
// list or expression: [MASK:a*2/^[a-z]+$/].
type Blank struct {
	Start, End int // byte span of the blank's spelling in [Template.Text]
	Pos        int // index of its mask token in [Template.IDs]

	Name     string   // blanks of the same name are tied; "" is tied to none
	Min, Max int      // number of tokens, both 1 unless the blank says otherwise
	Words    []string // the only fillings allowed; nil: any
	// Punctuation may fill the blank as well as words, as under VocabAll.
	Punctuation bool
	Number      bool           // only a number fills the blank
	Pattern     *regexp.Regexp // what a whole word must match; nil: anything
}

// A Template is a text with blanks, tokenized for one model. It does not change.
type Template struct{ in text.Template }

// Parse finds the blanks of a text and tokenizes it; [Blank] has the grammar.
// A blank is also <mask>, a run of three or more underscores, or the tokenizer's own
// spelling of the mask token. A backslash before a blank makes it text: \[MASK].
// Errors are *TextError with ErrEmpty, ErrNoBlank
// or ErrBlank, or come from the tokenizer (invalid UTF-8). Without a tokenizer it is ErrOption.
func Parse(tok *tokenize.Tokenizer, s string) (*Template, error) {
	t, err := text.Parse(tok, s)
	if err != nil {
		return nil, err
	}
	return &Template{*t}, nil
}

// Text returns the text, with its blanks as they are spelt and without the
// backslashes that make text of what looks like a blank.
func (t *Template) Text() string { return t.in.Text }

// Source returns the text with these backslashes: what [Parse] reads as this template.
func (t *Template) Source() string { return t.in.Source() }

// Blanks returns the blanks in the order of the text; at least one. The slice
// is the caller's.
func (t *Template) Blanks() []Blank {
	out := make([]Blank, len(t.in.Blanks))
	for i, b := range t.in.Blanks {
		out[i] = Blank{Start: b.Start, End: b.End, Pos: b.Pos, Name: b.Name, Min: b.Min, Max: b.Max,
			Words: slices.Clone(b.Words), Punctuation: b.Punctuation, Number: b.Number, Pattern: b.Pattern}
	}
	return out
}

// IDs returns the whole sequence, special tokens included, with one mask token
// at every blank. The slice is the caller's.
func (t *Template) IDs() []int32 { return slices.Clone(t.in.IDs) }

// Window is the byte span of the text that the model sees: all of it, or what
// is left of a text too long for the model, see [Template.Cut].
func (t *Template) Window() [2]int { return t.in.Window }

// Positions returns the token positions of the blanks in [Template.IDs].
func (t *Template) Positions() []int {
	p := make([]int, len(t.in.Blanks))
	for i, b := range t.in.Blanks {
		p[i] = b.Pos
	}
	return p
}

// Cut returns the template with no more than limit ids, the special tokens at
// both ends and room further tokens at the blanks included: the piece of the
// text around the blanks that is as long as possible, with as many pieces
// before the first blank as after the last (more on one side where the other
// has fewer), beginning and ending with whole words. Text and blanks stay; only
// what the model sees is cut, as [Template.Window] says. A template that fits is returned
// as it is, and so is any with a limit of 0 or less. Room is 0 or more. The error is mlm.ErrTooLong
// if the blanks are too far apart.
func (t *Template) Cut(limit, room int) (*Template, error) {
	cut, err := t.in.Cut(limit, room)
	switch {
	case err != nil:
		return nil, err
	case cut == &t.in:
		return t, nil
	}
	return &Template{*cut}, nil
}
