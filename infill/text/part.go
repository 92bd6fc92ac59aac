package text

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"infill/internal/truecase"
	"infill/mlm"
)

// A Part is a stretch of a long text whose blanks are filled together, after those before it.
type Part struct {
	First, Last int // its blanks are First to Last−1
	Start, End  int // its bytes of the text
	Sight       int // the byte from which on the model sees the text before it
}

// Parts cuts a text into stretches with as many blanks as a model of limit pieces takes together.
// They begin and end at borders of sentences, or of words in a sentence that is too long itself. A
// quarter of the limit, at the least, is for the text before. What lies between parts has no
// blanks. longest is the most pieces that each blank may take.
func (t *Template) Parts(limit int, longest []int) []Part {
	c := cutter{t: t, sums: make([]int, len(t.IDs))}
	for p := 1; p < len(t.IDs); p++ {
		c.sums[p] = c.sums[p-1] + 1
		if c.blank(p) {
			c.sums[p] += longest[0] - 1
			longest = longest[1:]
		}
	}
	room := limit - 2 // less the special tokens
	most := room * 3 / 4
	cuts := c.cuts(most)
	var out []Part
	for i, next := 0, 0; next < len(t.Blanks); {
		from, to := cuts[i], cuts[i+1]
		if i++; t.Blanks[next].Pos >= to {
			continue // it has no blank
		}
		for i+1 < len(cuts) && c.pieces(from, cuts[i+1]) <= most {
			i++
			to = cuts[i]
		}
		p := Part{First: next, Start: c.byteOf(from), End: c.byteOf(to)}
		for next < len(t.Blanks) && t.Blanks[next].Pos < to {
			next++
		}
		p.Last, p.Sight = next, c.byteOf(c.sight(from, room-c.pieces(from, to)))
		out = append(out, p)
	}
	return out
}

// PartOf is the template of a part by itself, behind the text before it with these words in the
// blanks up to there.
func (t *Template) PartOf(p Part, words []string) (*Template, error) {
	var places [][2]int
	first := p.First
	for ; first > 0 && t.Blanks[first-1].Start >= p.Sight; first-- {
		b := &t.Blanks[first-1]
		places = append(places, [2]int{b.Start - p.Sight, b.End - p.Sight})
	}
	slices.Reverse(places)
	before, _ := Restored(t.Text[p.Sight:p.Start], places, words[first:p.First])
	blanks := slices.Clone(t.Blanks[p.First:p.Last])
	for i := range blanks {
		blanks[i].Start += len(before) - p.Start
		blanks[i].End += len(before) - p.Start
	}
	out, err := newTemplate(t.Tok, before+t.Text[p.Start:p.End], blanks)
	if err == nil && t.Masked != nil {
		out.Masked = t.Masked[p.First:p.Last]
	}
	return out, err
}

// A cutter knows where a text may be cut: before some of its pieces.
type cutter struct {
	t    *Template
	sums []int // pieces up to each one, blanks at their longest
}

// pieces is the number of pieces from one to before another.
func (c *cutter) pieces(from, to int) int { return c.sums[to-1] - c.sums[from-1] }

// blank reports whether a piece is a blank.
func (c *cutter) blank(p int) bool { return c.t.IDs[p] == c.t.Tok.MaskID() }

// byteOf is the byte at which a piece begins, white space apart.
func (c *cutter) byteOf(p int) int {
	switch p {
	case 1:
		return 0
	case len(c.t.IDs) - 1:
		return len(c.t.Text)
	}
	at := min(c.t.starts[p], len(c.t.Text))
	rest := c.t.Text[at:]
	return at + len(rest) - len(strings.TrimLeftFunc(rest, unicode.IsSpace))
}

// How well a text is cut somewhere.
const (
	noBorder = iota
	characterBorder
	wordBorder
	sentenceBorder
)

// border says how well the text is cut before a piece.
func (c *cutter) border(p int) int {
	before := c.t.Text[:c.byteOf(p)]
	bare := strings.TrimRightFunc(before, unicode.IsSpace)
	switch {
	case bare == "" || len(bare) < len(before) &&
		(truecase.StartsSentence(before) || strings.Contains(before[len(bare):], "\n")):
		return sentenceBorder
	case len(bare) < len(before):
		return wordBorder
	case c.t.inner[p] || c.blank(p) || c.blank(p-1):
		return noBorder
	}
	return characterBorder
}

// cuts are the borders of the sentences, from the first piece to behind the last. A sentence of
// more than most pieces is cut itself, at the last of its best borders.
func (c *cutter) cuts(most int) []int {
	end := len(c.t.IDs) - 1
	out := []int{1}
	at, best := 0, noBorder // where the sentence can be cut
	for p := 2; p < end; p++ {
		from := out[len(out)-1]
		b := c.border(p)
		switch {
		case at > from && c.pieces(from, p) > most:
			out = append(out, at)
			p, best = at, noBorder
		case b == sentenceBorder:
			out, best = append(out, p), noBorder
		case b > noBorder && b >= best:
			at, best = p, b
		}
	}
	return append(out, end)
}

// sight is the piece from which on the model sees at most n pieces before a part: the first of a
// sentence, or without one of a word.
func (c *cutter) sight(from, n int) int {
	first, best := from, wordBorder
	for p := from - 1; p > 0 && c.pieces(p, from) <= n; p-- {
		if b := c.border(p); b >= best {
			first, best = p, b
		}
	}
	return first
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
