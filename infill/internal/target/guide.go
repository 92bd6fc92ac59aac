package target

import (
	"context"
	"fmt"

	"infill/infill/internal/recall"
	"infill/infill/request"
	"infill/tokenize"
)

// A guiding term has gradients over the tokens of a tokenizer. They are nil where its own tokens
// are others. remember says that nothing is asked twice.
type guiding interface {
	Gradients(tok *tokenize.Tokenizer, remember bool) *recall.Recall
}

// A guide is a term whose gradient goes with the model's.
type guide struct {
	model  *recall.Recall
	weight float64
}

// guidesOf lists the terms that have gradients over the tokens of a tokenizer. all reports whether
// these are all that weigh anything.
func guidesOf(terms []request.Weighted, tok *tokenize.Tokenizer, remember bool) (list []guide,
	all bool) {
	all = true
	for _, w := range terms {
		if w.Weight == 0 {
			continue
		}
		var m *recall.Recall
		if g, ok := w.Term.(guiding); ok {
			m = g.Gradients(tok, remember)
		}
		if m == nil {
			all = false
			continue
		}
		list = append(list, guide{m, w.Weight})
	}
	return list, all
}

// addGuides adds the gradients of terms to those of the states in a bucket, as the model gives
// them: mask × vocabulary values.
func (t *Target) addGuides(ctx context.Context, b *bucket) error {
	if t.Extra == nil {
		return nil
	}
	for _, g := range t.Extra.guides {
		m := len(b.lay.Sentence.Blanks)
		logProb := resized[float32](nil, len(b.states), m)
		wide := resized[float32](nil, len(b.states), m*t.Model.VocabSize())
		err := g.model.Gradient(ctx, b.lay.Sentence, b.states, t.Mode, logProb, wide)
		if err != nil {
			return fmt.Errorf("gradient of a part of the energy: %w", err)
		}
		for j := range wide {
			for i, x := range wide[j] {
				b.wide[j][i] += float32(g.weight) * x
			}
		}
	}
	return nil
}
