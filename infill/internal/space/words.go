package space

import (
	"fmt"
	"slices"
	"strings"

	"infill/infill/request"
	"infill/infill/text"
)

// around is the least number of bytes on each side of a word that Reaches reads.
const around = 500

// Reaches reports whether a filling can have a word of a text back where the word is blanked out,
// as one token. word is its byte span.
func (s *Supports) Reaches(sentence string, word [2]int, o request.WordOptions) bool {
	// The words around it say how it is cut. A long text is not read again for each word of it.
	from, to := max(0, word[0]-around), min(word[1]+around, len(sentence))
	from = strings.LastIndexByte(sentence[:from], ' ') + 1
	if end := strings.IndexByte(sentence[to:], ' '); end >= 0 {
		sentence = sentence[:to+end]
	}
	word = [2]int{word[0] - from, word[1] - from}
	t, taken, err := text.BlankOut(s.tok, sentence[from:], [][2]int{word})
	if err != nil {
		return false
	}
	o.Original = taken
	r, err := s.Rules(t, &o)
	if err != nil {
		return false
	}
	sp, err := r.Space(t, []int{1})
	if err != nil {
		return false
	}
	x := make([]int32, len(sp.Coords))
	return sp.Put(x, 0, taken[0]) == "" && len(sp.Filling(0, x, nil)) == 1 && sp.Valid(x)
}

const notCandidate = "it is not among what the blank may take; let the blank take more " +
	"(words, punctuation, a longer shortlist, no rule against it), or begin elsewhere"

// Put sets the coordinates of group g to a word. It says what is wrong.
func (sp *Space) Put(x []int32, g int, word string) string {
	i := sp.First[g]
	spelt := sp.piecesOf(g, word)
	if c := &sp.Coords[i]; c.Slot < 0 {
		for _, ids := range spelt {
			for v, p := range c.Phrases {
				if slices.Equal(p.IDs, ids) {
					x[i] = int32(v)
					return ""
				}
			}
		}
		return notCandidate
	}
	if len(spelt) == 0 {
		return "the model's vocabulary cannot spell it; begin with another word"
	}
	msg := fmt.Sprintf("the model's vocabulary cannot spell it in %d token%s; begin with another "+
		"word, or let the blank take as many tokens as this one has", sp.Counts[g],
		strings.Repeat("s", min(1, sp.Counts[g]-1)))
	for _, ids := range spelt {
		if len(ids) != sp.Counts[g] {
			continue
		}
		msg = ""
		for slot, id := range ids {
			v := slices.Index(sp.Coords[i+slot].IDs, id)
			if v < 0 {
				msg = notCandidate
				break
			}
			x[i+slot] = int32(v)
		}
		if msg == "" {
			return ""
		}
	}
	return msg
}

// piecesOf are the ways in which a word can be meant: as pieces, and as it is written, in the forms
// that the vocabulary has for it.
func (sp *Space) piecesOf(g int, word string) [][]int32 {
	var out [][]int32
	var pieces []int32
	for _, p := range strings.Fields(word) {
		id, ok := sp.supports.tok.ID(p)
		if !ok {
			pieces = nil
			break
		}
		pieces = append(pieces, id)
	}
	if len(pieces) > 0 {
		out = append(out, pieces)
	}
	if p, err := sp.supports.bound.Spell(word, sp.forms[g][0]); err == nil {
		out = append(out, p.IDs)
		out = append(out, sp.supports.bound.Spellings(p)...)
	}
	return out
}

// Word is the filling of group g as it is written, but for capitals.
func (sp *Space) Word(x []int32, g int) string {
	if c := &sp.Coords[sp.First[g]]; c.Slot < 0 {
		return c.Phrases[x[sp.First[g]]].Text
	}
	return sp.supports.bound.Join(sp.Filling(g, x, nil))
}
