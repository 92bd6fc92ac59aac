package infill

import (
	"fmt"

	"infill/mlm"
	"infill/tokenize"
)

// A inTemplate is a text with blanks, tokenized for one model. It does not change.
type inTemplate struct {
	tok    *tokenize.Tokenizer
	text   string
	blanks []blankIn // in the order of the text; at least one
	ids    []int32   // the whole sequence, specials included, one mask token at every blank
	window [2]int

	groups []group
	owner  []int   // of each blank, its group
	places []place // of each blank
	starts []int   // byte of text at which each id begins
	ends   []int   // byte of text at which it ends
	inner  []bool  // the id goes on with the word before it
}

// parse is what infill.Parse says.
func parse(tok *tokenize.Tokenizer, text string) (*inTemplate, error) {
	if tok == nil {
		return nil, errNoTokenizer
	}
	err := checkText(text, "write a sentence with [MASK] or ___ where words are to be filled in")
	if err != nil {
		return nil, err
	}
	text, blanks, err := parseBlanks(text, tok.Token(tok.MaskID()))
	if err != nil {
		return nil, err
	}
	if len(blanks) == 0 {
		return nil, noBlank(text, tok.Token(tok.MaskID()))
	}
	return newTemplate(tok, text, blanks)
}

// newTemplate makes the template of a text whose blanks are known.
func newTemplate(tok *tokenize.Tokenizer, text string, blanks []blankIn) (*inTemplate, error) {
	gs, err := groups(blanks)
	if err != nil {
		return nil, err
	}
	t, err := encode(tok, text, blanks)
	if err != nil {
		return nil, err
	}
	t.groups, t.owner = gs, make([]int, len(blanks))
	for g := range gs {
		for _, b := range gs[g].blanks {
			t.owner[b] = g
		}
	}
	t.places = placesOf(boundaryOf(tok), text, blanks)
	for i := range t.places {
		if t.places[i].tail = t.tail(i); len(t.places[i].tail) > 0 {
			t.places[i].head = t.head(i)
		}
	}
	return t, nil
}

// head returns the pieces of the letters that directly precede a blank. There are none if another
// blank is part of their word, or if the first of them is in one piece with what precedes it.
func (t *inTemplate) head(i int) []int32 {
	start := t.blanks[i].Start - len(t.places[i].before)
	if i > 0 && t.blanks[i-1].End == start {
		return nil
	}
	to := t.blanks[i].Pos
	from := to
	for from > 1 && t.starts[from-1] >= start { // piece 0 is a special token
		from--
	}
	if from == to || t.starts[from] != start {
		return nil
	}
	return t.ids[from:to]
}

// tail returns the pieces of the number that directly follows a blank.
func (t *inTemplate) tail(i int) []int32 {
	after := t.places[i].after
	if !beginsNumber(after) {
		return nil
	}
	from := t.blanks[i].Pos + 1
	to := from
	for to < len(t.ids) && t.starts[to] < t.blanks[i].End+len(after) {
		to++
	}
	return t.ids[from:to]
}

// placesIn are the places of the blanks of a group.
func (t *inTemplate) placesIn(g *group) []place {
	out := make([]place, len(g.blanks))
	for i, b := range g.blanks {
		out[i] = t.places[b]
	}
	return out
}

// encode tokenizes the text, see encodeText, and finds the mask tokens of the
// blanks in the ids: tokenizers split the text at special tokens first, so
// nothing outside a blank changes.
func encode(tok *tokenize.Tokenizer, text string, blanks []blankIn) (*inTemplate, error) {
	enc, err := encodeText(tok, text, blanks)
	if err != nil {
		return nil, err
	}
	t := &inTemplate{
		tok: tok, text: text, blanks: blanks, ids: enc.IDs, window: [2]int{0, len(text)},
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
		return nil, &TextError{-1, msg, ErrBlank}
	}
	return t, nil
}

// cut is what infill.Template.Cut says. A template that fits is t itself.
func (t *inTemplate) cut(limit, room int) (*inTemplate, error) {
	room = max(room, 0)
	n := len(t.ids)
	if limit <= 0 || n+room <= limit {
		return t, nil
	}
	// Without the special tokens at both ends the ids are 1 … n−2.
	first, last := t.blanks[0].Pos, t.blanks[len(t.blanks)-1].Pos
	free := limit - room - 2 - (last - first + 1)
	if free < 0 {
		return nil, &TextError{t.blanks[0].Start, fmt.Sprintf("the blanks span %d pieces, the model "+
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
	cut.window = [2]int{t.starts[a], t.ends[b-1]}
	cut.ids = append(append([]int32{t.ids[0]}, t.ids[a:b]...), t.ids[n-1])
	cut.starts = append(append([]int{t.starts[0]}, t.starts[a:b]...), t.starts[n-1])
	cut.ends = append(append([]int{t.ends[0]}, t.ends[a:b]...), t.ends[n-1])
	cut.inner = append(append([]bool{false}, t.inner[a:b]...), false)
	cut.blanks = append([]blankIn(nil), t.blanks...)
	for i := range cut.blanks {
		cut.blanks[i].Pos -= a - 1
	}
	return &cut, nil
}
