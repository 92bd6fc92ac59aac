package text

import (
	"slices"
	"strings"
	"unicode"

	"infill/internal/truecase"
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
