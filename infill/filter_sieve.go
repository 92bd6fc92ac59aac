package infill

import (
	"context"
	"fmt"
	"math"
	"strings"

	"infill/infill/text"
)

// A sieve holds fillings against the text of a template before its words were masked, and counts
// those that its filter refuses. nil lets all pass.
type sieve struct {
	by      *Filter
	text    string
	words   []string // that were masked
	read    []string // these as the model reads them
	score   *float64 // of these, in nats; nil if it was not asked for
	refused [verdicts]int
}

// A verdict is why a filling is refused.
type verdict int

const (
	passes verdict = iota
	tooNear
	tooFar
	tooUnlikely
	unlike // of another similarity
	verdicts
)

// newSieve is nil if the options do not have the words that were masked.
func (p *plan) newSieve(ctx context.Context) (*sieve, error) {
	t, words, by := p.t, p.opt.Words.Original, &p.opt.Words.Filter
	if len(words) != len(t.Blanks) {
		if by.on() {
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
	s := &sieve{by: by, text: before, words: words}
	for _, w := range words {
		s.read = append(s.read, text.AsRead(t.Tok, w))
	}
	switch {
	case by.MaxDrop == nil:
		return s, nil
	case len(p.opt.Words.Terms) > 0:
		return nil, fmt.Errorf("%w: a drop is one of the model's score, and the energy has other parts",
			text.ErrOption)
	}
	// The model sees a window of the text. With the words it is this window of the original.
	from, to := t.Window[0], t.Window[1]+len(before)-len(t.Text)
	for i := range spans {
		spans[i][0] -= from
		spans[i][1] -= from
	}
	original, err := p.e.scoreSpans(ctx, before[from:to], spans, p.opt.Results.Score)
	if err != nil {
		return nil, fmt.Errorf("the text before words were masked: %w", err)
	}
	s.score = &original.Score
	return s, nil
}

// measure fills in how far a filling is from the original.
func (s *sieve) measure(f *Filling) {
	most := 1
	f.Changed = 0
	for i, word := range s.words { // lower case may take twice the characters
		filled := f.Text[f.Spans[i][0]:f.Spans[i][1]]
		most += 2 * max(len(word), len(filled))
		if !strings.EqualFold(filled, word) && !strings.EqualFold(filled, s.read[i]) {
			f.Changed++
		}
	}
	f.Edits = text.EditDistance(f.Text, s.text, most)
}

// near judges the distance of a filling that was measured.
func (s *sieve) near(f *Filling) verdict {
	switch {
	case f.Edits < s.by.MinEdits:
		return tooNear
	case s.by.MaxEdits > 0 && f.Edits > s.by.MaxEdits:
		return tooFar
	}
	return passes
}

// take is the fillings that pass, in their order.
func (s *sieve) take(all []Filling, judge func(*Filling) verdict) []Filling {
	var out []Filling
	for i := range all {
		v := judge(&all[i])
		if s.refused[v]++; v == passes {
			out = append(out, all[i])
		}
	}
	return out
}

// pass measures fillings and takes those that the filter lets pass, their scores apart.
func (s *sieve) pass(ctx context.Context, all []Filling) ([]Filling, error) {
	if s == nil {
		return all, nil
	}
	for i := range all {
		s.measure(&all[i])
	}
	out := s.take(all, s.near)
	if s.by.Similarity == nil || len(out) == 0 {
		return out, nil
	}
	texts, v := make([]Finished, len(out)), make([]float64, len(out))
	for i := range out {
		texts[i] = Finished{Text: out[i].Text, Spans: out[i].Spans, Original: s.words}
	}
	if err := s.by.Similarity.Values(ctx, texts, v); err != nil {
		return nil, fmt.Errorf("the similarity with the original: %w", err)
	}
	for i := range out {
		out[i].Similarity = &v[i]
	}
	return s.take(out, func(f *Filling) verdict {
		if x := *f.Similarity; math.IsNaN(x) || s.by.MinSimilarity != nil && x < *s.by.MinSimilarity ||
			s.by.MaxSimilarity != nil && x > *s.by.MaxSimilarity {
			return unlike
		}
		return passes
	}), nil
}

// undropped takes the fillings that do not score too far below the original words.
func (s *sieve) undropped(all []Filling) []Filling {
	if s == nil || s.by.MaxDrop == nil {
		return all
	}
	return s.take(all, func(f *Filling) verdict {
		// The original's score has no part for its length.
		if !(f.Score-f.Parts.Length >= *s.score-*s.by.MaxDrop) { // also of one that is not a number
			return tooUnlikely
		}
		return passes
	})
}

// atOnce is how many fillings are measured together: an encoder uses several threads for many.
func (s *sieve) atOnce() int {
	if s == nil || s.by.Similarity == nil {
		return 1
	}
	return 32
}

// err is the error of a sieve that let nothing pass.
func (s *sieve) err() error {
	r, also := &s.refused, ""
	if s.by.Similarity != nil {
		also = fmt.Sprintf(", %d are of another similarity", r[unlike])
	}
	return fmt.Errorf("%w: of %d different ones %d are too near to the original, %d too far from it, "+
		"%d score too low%s", ErrFiltered, r[tooNear]+r[tooFar]+r[tooUnlikely]+r[unlike], r[tooNear],
		r[tooFar], r[tooUnlikely], also)
}
