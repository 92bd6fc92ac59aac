package target

import (
	"context"
	"slices"

	"infill/infill/internal/recall"
	"infill/infill/request"
	"infill/infill/text"
	"infill/mlm"
	"infill/tokenize"
)

// Recut is Filling.Recut of a filling of the template.
func Recut(t *text.Template, tok *tokenize.Tokenizer, f *request.Filling) bool {
	if f.Parts.Finished {
		return false
	}
	s, _ := t.Stretch(f.Lengths)
	for i, at := range s.Blanks {
		s.IDs[at] = f.IDs[i]
	}
	enc, err := text.Encode(tok, text.End(f.Text, t.Shown), nil)
	return err != nil || !slices.Equal(enc.IDs, s.IDs)
}

// A FinishedCut is a text with its blanks filled as the tokenizer cuts it by itself.
type FinishedCut struct {
	Sentence *mlm.Sentence // masks are all pieces that have bytes of a filling
	State    []int32
}

// Touches reports whether letters or digits touch a blank.
func (t *Target) Touches() bool {
	return slices.ContainsFunc(t.Template.Places, func(p text.Place) bool {
		return p.Before+p.After != ""
	})
}

// IsMark reports whether a filling does not end with a letter or digit of a word.
func IsMark(word string) bool { return text.LettersBefore(word) == "" }

// Between reports whether a filling decides how the letters around it are cut: a mark before
// letters ("5:30" has no ##30), and any entry of a list that touches letters.
func (t *Target) Between(f *request.Filling) bool {
	for g := range t.Groups {
		list := t.Coords[t.First[g]].Slot < 0
		for _, b := range t.Groups[g].Blanks {
			p := &t.Template.Places[b]
			mark := IsMark(f.Text[f.Spans[b][0]:f.Spans[b][1]])
			if list && p.Before+p.After != "" || mark && p.After != "" {
				return true
			}
		}
	}
	return false
}

// FinishedCut is how the tokenizer cuts a finished text: nil where it has the very pieces of the
// state, and where there is nothing to compare.
func (t *Target) FinishedCut(f *request.Filling) *FinishedCut {
	w, shown := t.Template.Window, t.Template.Shown
	if shown != "" && w != [2]int{0, len(t.Template.Text)} {
		return nil // its end may not be in the window
	}
	w[1] += len(f.Text) - len(t.Template.Text)
	enc, err := text.Encode(t.Tokenizer(), text.End(f.Text[w[0]:w[1]], shown), nil)
	if err != nil || t.limit > 0 && len(enc.IDs) > t.limit {
		return nil
	}
	filled, _ := t.Template.Stretch(f.Lengths)
	for i, at := range filled.Blanks {
		filled.IDs[at] = f.IDs[i]
	}
	if slices.Equal(enc.IDs, filled.IDs) {
		return nil
	}
	c := &FinishedCut{Sentence: &mlm.Sentence{IDs: enc.IDs}}
	for p, id := range enc.IDs {
		if !enc.Special[p] && slices.ContainsFunc(f.Spans, func(s [2]int) bool {
			return max(enc.Spans[p][0]+w[0], s[0]) < min(enc.Spans[p][1]+w[0], s[1])
		}) {
			c.Sentence.Blanks = append(c.Sentence.Blanks, p)
			c.State = append(c.State, id)
		}
	}
	if len(c.State) == 0 {
		return nil
	}
	return c
}

// FinishedParts hands take the parts of the fillings that decide how the letters around them are
// cut. They are the parts that scoring the finished text gives. rows is how many this takes.
func (t *Target) FinishedParts(ctx context.Context, m *recall.Recall, fillings []*request.Filling,
	by request.Scoring, take func(i int, p request.Parts)) (rows int, err error) {
	var some []*request.Filling
	var of []int
	for i, f := range fillings {
		if t.Between(f) {
			some, of = append(some, f), append(of, i)
		}
	}
	return t.CutParts(ctx, m, some, by, func(i int, p request.Parts) { take(of[i], p) })
}

// CutParts is FinishedParts of fillings that are known to decide it.
func (t *Target) CutParts(ctx context.Context, m *recall.Recall, fillings []*request.Filling,
	by request.Scoring, take func(i int, p request.Parts)) (rows int, err error) {
	var all groups
	for i, f := range fillings {
		c := t.FinishedCut(f)
		if c == nil {
			continue // scored as it is
		}
		hidden := slices.Clone(c.Sentence.IDs)
		for _, p := range c.Sentence.Blanks {
			hidden[p] = t.Tokenizer().MaskID()
		}
		all.add(text.IDsKey(hidden), c.Sentence, i, c.State)
	}
	return t.partsOf(ctx, m, &all, by, func(i int, p request.Parts) {
		p.Finished, p.Length = true, t.LengthPart(fillings[i].Lengths)
		take(i, p)
	})
}

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
