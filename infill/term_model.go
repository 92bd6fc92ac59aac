package infill

import (
	"context"
	"errors"
	"fmt"

	"infill/infill/internal/recall"
	"infill/infill/text"
	"infill/internal/gate"
	"infill/mlm"
	"infill/tokenize"
)

// A secondModel is the term of another masked model, with a tokenizer of its own: its
// pseudo-log-likelihood of what fills the blanks, which is what [Engine.ScoreSpans] says of the
// finished text. With weight 1 the energy describes the product of both models.
//
// Where it has the vocabulary of the engine's model, the gradients of energies have its gradient
// too, so that proposals go where both models point.
type secondModel struct {
	name   string
	engine *Engine
}

// NewSecondModel is the term of a model, which stays the caller's to close. Without a model its
// values are ErrOption.
func NewSecondModel(name string, m *mlm.Model) *secondModel { return &secondModel{name, New(m)} }

// Named is the same term by another name.
func (s *secondModel) Named(name string) *secondModel { return &secondModel{name, s.engine} }

// Name implements [Term].
func (s *secondModel) Name() string { return s.name }

// Rows implements [Term]: a row for each piece, mostly one for a blank.
func (s *secondModel) Rows() int { return 1 }

// Values implements [Term]. A text whose filling has no piece in its vocabulary has the value 0.
func (s *secondModel) Values(ctx context.Context, texts []Finished, v []float64) error {
	if s.engine.model == nil {
		return fmt.Errorf("%w: it has no model; open one with mlm.Open and pass it to NewSecondModel",
			text.ErrOption)
	}
	return gate.Each(ctx, len(texts), func(ctx context.Context, k int) error {
		score, err := s.engine.ScoreSpans(ctx, texts[k].Text, texts[k].Spans)
		switch {
		case errors.Is(err, text.ErrEmpty) || errors.Is(err, errNoPiece):
			v[k] = 0
			return nil
		case err != nil:
			return err
		}
		v[k] = score.Score
		return nil
	})
}

// guides reports whether the model's gradient is one over the tokens of a tokenizer.
func (s *secondModel) guides(tok *tokenize.Tokenizer) bool {
	own := s.engine.Tokenizer()
	return own != nil && s.engine.model.Info().NoGradients == "" && own.Same(tok)
}

// A guide is a term whose gradient goes with the model's.
type guide struct {
	model  *recall.Recall
	weight float64
}

// guidesOf lists the terms that have gradients over the tokens of the engine's model. all reports
// whether these are all that weigh anything.
func (e *Engine) guidesOf(opt *Options) (list []guide, all bool) {
	all = true
	for _, w := range opt.Words.Terms {
		if w.Weight == 0 {
			continue
		}
		s, ok := w.Term.(*secondModel)
		if !ok || !s.guides(e.Tokenizer()) {
			all = false
			continue
		}
		memo := s.engine.memo
		if e.memo == nil {
			memo = nil
		}
		list = append(list, guide{recall.New(s.engine.model, memo), w.Weight})
	}
	return list, all
}

// addGuides adds the gradients of terms to those of the states in a bucket, as the model gives
// them: mask × vocabulary values.
func (t *target) addGuides(ctx context.Context, b *bucket) error {
	if t.extra == nil {
		return nil
	}
	for _, g := range t.extra.guides {
		m := len(b.lay.Sentence.Blanks)
		logProb := resized[float32](nil, len(b.states), m)
		wide := resized[float32](nil, len(b.states), m*t.model.VocabSize())
		err := g.model.Gradient(ctx, b.lay.Sentence, b.states, t.mode, logProb, wide)
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
