package target

import (
	"infill/infill/request"
	"infill/infill/text"
)

// Spell writes out a state: text, tokens and spans.
func (t *Target) Spell(x []int32, asModel bool) request.Filling {
	tok := t.Tokenizer()
	words := make([]string, len(t.Template.Blanks))
	f := request.Filling{Tokens: make([]string, len(words)), Pieces: make([]string, len(words))}
	var asGiven []int
	for g := range t.Groups {
		ids, word := t.Filling(g, x, nil), t.Word(x, g)
		for _, b := range t.Groups[g].Blanks {
			words[b], f.Tokens[b], f.Pieces[b] = word, text.Word(tok, ids), tok.Spelling(ids)
		}
		if t.Coords[t.First[g]].AsGiven {
			asGiven = append(asGiven, t.Groups[g].Blanks...)
		}
	}
	l := t.LayoutOf(x, nil)
	f.IDs, f.Lengths = t.Tokens(nil, l, x, -1, -1), l.Lengths
	if asModel {
		f.Text, f.Spans = t.Template.Write(words)
	} else {
		f.Text, f.Spans = t.Template.Splice(words, asGiven...)
	}
	return f
}
