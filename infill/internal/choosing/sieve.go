package choosing

import (
	"context"
	"fmt"
	"math"
	"strings"

	"infill/infill/request"
	"infill/infill/text"
)

// A Sieve holds fillings against the text of a template before its words were masked, and counts
// those that its filter refuses. nil lets all pass.
type Sieve struct {
	By      *request.Filter
	text    string
	words   []string // that were masked
	read    []string // these as the model reads them
	score   *float64 // of these, in nats; nil if it was not asked for
	refused [verdicts]int
}

// A Verdict is why a filling is refused.
type Verdict int

const (
	passes Verdict = iota
	tooNear
	tooFar
	tooUnlikely
	unlike // of another similarity
	verdicts
)

// newSieve is nil if the options do not have the words that were masked.
func newSieve(t *text.Template, opt *request.Options, score func(text string,
	spans [][2]int) (*float64, error)) (*Sieve, error) {
	words, by := opt.Words.Original, &opt.Words.Filter
	if len(words) != len(t.Blanks) {
		if by.On() {
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
	s := &Sieve{By: by, text: before, words: words}
	for _, w := range words {
		s.read = append(s.read, text.AsRead(t.Tok, w))
	}
	switch {
	case by.MaxDrop == nil:
		return s, nil
	case len(opt.Words.Terms) > 0:
		return nil, fmt.Errorf("%w: a drop is one of the model's score, and the energy has other parts",
			text.ErrOption)
	}
	// The model sees a window of the text. With the words it is this window of the original.
	from, to := t.Window[0], t.Window[1]+len(before)-len(t.Text)
	for i := range spans {
		spans[i][0] -= from
		spans[i][1] -= from
	}
	var err error
	if s.score, err = score(before[from:to], spans); err != nil {
		return nil, fmt.Errorf("the text before words were masked: %w", err)
	}
	return s, nil
}

// measure fills in how far a filling is from the original.
func (s *Sieve) measure(f *request.Filling) {
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

// Near judges the distance of a filling that was measured.
func (s *Sieve) Near(f *request.Filling) Verdict {
	switch {
	case f.Edits < s.By.MinEdits:
		return tooNear
	case s.By.MaxEdits > 0 && f.Edits > s.By.MaxEdits:
		return tooFar
	}
	return passes
}

// Take is the fillings that pass, in their order.
func (s *Sieve) Take(all []request.Filling,
	judge func(*request.Filling) Verdict) []request.Filling {
	var out []request.Filling
	for i := range all {
		v := judge(&all[i])
		if s.refused[v]++; v == passes {
			out = append(out, all[i])
		}
	}
	return out
}

// Pass measures fillings and takes those that the filter lets pass, their scores apart.
func (s *Sieve) Pass(ctx context.Context, all []request.Filling) ([]request.Filling, error) {
	if s == nil {
		return all, nil
	}
	for i := range all {
		s.measure(&all[i])
	}
	out := s.Take(all, s.Near)
	if s.By.Similarity == nil || len(out) == 0 {
		return out, nil
	}
	texts, v := make([]request.Finished, len(out)), make([]float64, len(out))
	for i := range out {
		texts[i] = request.Finished{Text: out[i].Text, Spans: out[i].Spans, Original: s.words}
	}
	if err := s.By.Similarity.Values(ctx, texts, v); err != nil {
		return nil, fmt.Errorf("the similarity with the original: %w", err)
	}
	for i := range out {
		out[i].Similarity = &v[i]
	}
	return s.Take(out, func(f *request.Filling) Verdict {
		if x := *f.Similarity; math.IsNaN(x) || s.By.MinSimilarity != nil && x < *s.By.MinSimilarity ||
			s.By.MaxSimilarity != nil && x > *s.By.MaxSimilarity {
			return unlike
		}
		return passes
	}), nil
}

// Undropped takes the fillings that do not score too far below the original words.
func (s *Sieve) Undropped(all []request.Filling) []request.Filling {
	if s == nil || s.By.MaxDrop == nil {
		return all
	}
	return s.Take(all, func(f *request.Filling) Verdict {
		// The original's score has no part for its length.
		if !(f.Score-f.Parts.Length >= *s.score-*s.By.MaxDrop) { // also of one that is not a number
			return tooUnlikely
		}
		return passes
	})
}

// AtOnce is how many fillings are measured together: an encoder uses several threads for many.
func (s *Sieve) AtOnce() int {
	if s == nil || s.By.Similarity == nil {
		return 1
	}
	return 32
}

// Err is the error of a sieve that let nothing pass.
func (s *Sieve) Err() error {
	r, also := &s.refused, ""
	if s.By.Similarity != nil {
		also = fmt.Sprintf(", %d are of another similarity", r[unlike])
	}
	return fmt.Errorf("%w: of %d different ones %d are too near to the original, %d too far from it, "+
		"%d score too low%s", request.ErrFiltered, r[tooNear]+r[tooFar]+r[tooUnlikely]+r[unlike],
		r[tooNear], r[tooFar], r[tooUnlikely], also)
}

// Judge measures a finished text as a filling of the text before, where words stood in its spans.
// The error is ErrFiltered where the filter refuses it, MaxDrop apart, or that of Similarity.
func Judge(ctx context.Context, by *request.Filter, filling *request.Filling, before string,
	words []string) error {
	s := &Sieve{By: by, text: before, words: words, read: words}
	passed, err := s.Pass(ctx, []request.Filling{*filling})
	switch {
	case err != nil:
		return err
	case len(passed) == 0:
		return s.Err()
	}
	*filling = passed[0]
	return nil
}
