package infill

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"infill/infill/text"
)

// maxEdits bounds the distances of a [Filter].
const maxEdits = 1_000_000

// ErrFiltered is returned when a filter refuses all fillings that were found.
var ErrFiltered = errors.New("no filling passes the filters")

// A Filter refuses fillings by what they make of the text that stood there before words were
// masked, the original. Options.Words.Original has those words, one for every blank. The zero value
// refuses none.
//
// A filter looks at fillings that were found. A constraint, such as Options.Words.MinDistance,
// decides which are looked for.
type Filter struct {
	// MinEdits and MaxEdits bound the Levenshtein distance of the filled text from the original, in
	// characters and without regard to case. 0 is any; both are at most 1,000,000.
	MinEdits, MaxEdits int
	// MaxDrop is by how many nats a filling may score below the original words in their places,
	// Result.OriginalScore, which is of Options.Results.Score. A negative drop asks for a better
	// score. nil is any.
	MaxDrop *float64
	// Similarity measures a filled text against the original, as the cosine of an encoder in package
	// infill/energies does; nil: Filling.Similarity is not known. MinSimilarity and MaxSimilarity
	// bound it, nil is any. A similarity that is not a number is refused.
	Similarity                   Term
	MinSimilarity, MaxSimilarity *float64
}

func (f *Filter) on() bool { return *f != Filter{} }

func (f *Filter) check() error {
	switch {
	case f.MaxEdits > 0 && f.MinEdits > f.MaxEdits:
		return fmt.Errorf("%w: edit distances from %d to %d, want the smaller one first", text.ErrOption,
			f.MinEdits, f.MaxEdits)
	case f.MaxDrop != nil && (math.IsNaN(*f.MaxDrop) || math.IsInf(*f.MaxDrop, 0)):
		return fmt.Errorf("%w: a drop of %v nats, want a finite number", text.ErrOption, *f.MaxDrop)
	case f.Similarity == nil && (f.MinSimilarity != nil || f.MaxSimilarity != nil):
		return fmt.Errorf("%w: a similarity is bounded, and nothing measures it", text.ErrOption)
	}
	least, most := math.Inf(-1), math.Inf(1)
	if f.MinSimilarity != nil {
		least = *f.MinSimilarity
	}
	if f.MaxSimilarity != nil {
		most = *f.MaxSimilarity
	}
	if !(least <= most) {
		return fmt.Errorf("%w: similarities from %v to %v", text.ErrOption, least, most)
	}
	return nil
}

// An origin is the text of a template before its words were masked.
type origin struct {
	text  string
	read  []string // the words that were masked as the model reads them
	score *float64 // of the words that were masked, in nats; nil if it was not asked for
	// The fillings that were refused because they are too near, too far, too unlikely, and of
	// another similarity.
	near, far, unlikely, unlike int
}

// origin finds the original of the template, nil if the options have none.
func (p *plan) origin(ctx context.Context) (*origin, error) {
	t, words := p.t, p.opt.Words.Original
	if len(words) != len(t.Blanks) {
		if p.opt.Words.Filter.on() {
			return nil, fmt.Errorf("%w: a filter needs the %d words that stood in the blanks, there are %d",
				text.ErrOption, len(t.Blanks), len(words))
		}
		return nil, nil
	}
	places := make([][2]int, len(t.Blanks))
	for i, bl := range t.Blanks {
		places[i] = [2]int{bl.Start, bl.End}
	}
	before, spans := text.Restored(t.Text, places, words)
	// The model sees a window of the text. With the words it is this window of the original.
	window := t.Window
	window[1] += len(before) - len(t.Text) // nothing before the first blank was moved
	o := &origin{text: before}
	for _, w := range words {
		o.read = append(o.read, text.AsRead(t.Tok, w))
	}
	switch {
	case p.opt.Words.Filter.MaxDrop == nil:
		return o, nil
	case len(p.opt.Words.Terms) > 0:
		return nil, fmt.Errorf("%w: a drop is one of the model's score, and the energy has other parts",
			text.ErrOption)
	}
	for i := range spans {
		spans[i][0] -= window[0]
		spans[i][1] -= window[0]
	}
	s, err := p.e.scoreSpans(ctx, o.text[window[0]:window[1]], spans, p.opt.Results.Score)
	if err != nil {
		return nil, fmt.Errorf("the text before words were masked: %w", err)
	}
	o.score = &s.Score
	return o, nil
}

// passes measures a filling and reports whether the filter lets it pass, similarity and score
// apart.
func (p *plan) passes(f *Filling) bool {
	o := p.original
	if o == nil {
		return true
	}
	most := 1
	f.Changed = 0
	for i, word := range p.opt.Words.Original { // lower case may take twice the characters
		filled := f.Text[f.Spans[i][0]:f.Spans[i][1]]
		most += 2 * max(len(word), len(filled))
		if !strings.EqualFold(filled, word) && !strings.EqualFold(filled, o.read[i]) {
			f.Changed++
		}
	}
	f.Edits = text.EditDistance(f.Text, o.text, most)
	switch by := &p.opt.Words.Filter; {
	case f.Edits < by.MinEdits:
		o.near++
	case by.MaxEdits > 0 && f.Edits > by.MaxEdits:
		o.far++
	default:
		return true
	}
	return false
}

// undropped are the fillings that do not score too far below the original words, in their order.
func (p *plan) undropped(all []Filling) []Filling {
	most := p.opt.Words.Filter.MaxDrop
	if most == nil {
		return all
	}
	var out []Filling
	for i := range all {
		if all[i].Score >= *p.original.score-*most {
			out = append(out, all[i])
		} else {
			p.original.unlikely++
		}
	}
	return out
}

// filter leaves the fillings of a result, with their states, that the filter lets pass. Scores that
// are not final yet do not matter.
func (p *plan) filter(ctx context.Context, res *Result, states []placed) ([]placed, error) {
	if p.original == nil {
		return states, nil
	}
	at := map[string]placed{}
	for i, s := range states {
		at[res.Fillings[i].Text] = s
	}
	var err error
	if res.Fillings, err = p.pass(ctx, res.Fillings); err != nil {
		return nil, err
	}
	states = states[:0]
	for _, f := range res.Fillings {
		states = append(states, at[f.Text])
	}
	return states, nil
}

// pass are the fillings that the filter lets pass, their scores apart, in their order.
func (p *plan) pass(ctx context.Context, all []Filling) ([]Filling, error) {
	var out []Filling
	for i := range all {
		if p.passes(&all[i]) {
			out = append(out, all[i])
		}
	}
	by := &p.opt.Words.Filter
	if by.Similarity == nil || len(out) == 0 {
		return out, nil
	}
	texts, v := make([]Finished, len(out)), make([]float64, len(out))
	for i := range out {
		texts[i] = Finished{Text: out[i].Text, Spans: out[i].Spans, Original: p.opt.Words.Original}
	}
	if err := by.Similarity.Values(ctx, texts, v); err != nil {
		return nil, fmt.Errorf("the similarity with the original: %w", err)
	}
	var alike []Filling
	for i, x := range v {
		if math.IsNaN(x) || by.MinSimilarity != nil && x < *by.MinSimilarity ||
			by.MaxSimilarity != nil && x > *by.MaxSimilarity {
			p.original.unlike++
			continue
		}
		out[i].Similarity = &v[i]
		alike = append(alike, out[i])
	}
	return alike, nil
}

// atOnce is how many fillings are measured together: an encoder uses several threads for many.
func (f *Filter) atOnce() int {
	if f.Similarity == nil {
		return 1
	}
	return 32
}

// filtered is the error of a plan whose filter let nothing pass.
func (p *plan) filtered() error {
	o := p.original
	also := ""
	if p.opt.Words.Filter.Similarity != nil {
		also = fmt.Sprintf(", %d are of another similarity", o.unlike)
	}
	return fmt.Errorf("%w: of %d different ones %d are too near to the original, %d too far from it, "+
		"%d score too low%s", ErrFiltered, o.near+o.far+o.unlikely+o.unlike, o.near, o.far, o.unlikely,
		also)
}
