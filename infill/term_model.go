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

// A SecondModel is the term of another masked model, with a tokenizer of its own: its
// pseudo-log-likelihood of the filled words, the [Engine.ScoreSpans] of the finished text. With
// weight 1 the energy describes the product of both models.
//
// Where it has the vocabulary of the engine's model, the gradients of energies have its gradient
// too, so that proposals go where both models point.
type SecondModel struct {
	name   string
	engine *Engine
}

// NewSecondModel is the term of a model, which stays the caller's to close. Without a model its
// values are ErrOption.
func NewSecondModel(name string, m *mlm.Model) *SecondModel { return &SecondModel{name, New(m)} }

// Named is the same term by another name.
func (s *SecondModel) Named(name string) *SecondModel { return &SecondModel{name, s.engine} }

// Name implements [Term].
func (s *SecondModel) Name() string { return s.name }

// Rows implements [Term]: a row for each piece, mostly one for a blank.
func (s *SecondModel) Rows() int { return 1 }

// Values implements [Term]. A text whose filling has no piece in its vocabulary has the value 0.
func (s *SecondModel) Values(ctx context.Context, texts []Finished, v []float64) error {
	if s.engine.model == nil {
		return fmt.Errorf("%w: it has no model; open one with mlm.Open and pass it to NewSecondModel",
			text.ErrOption)
	}
	return gate.Each(ctx, len(texts), func(ctx context.Context, k int) error {
		score, err := s.engine.ScoreSpans(ctx, texts[k].Text, texts[k].Spans, ScorePLL)
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

// Gradients asks the model for gradients over the tokens of a tokenizer. It is nil where the model
// has others, or no gradients. remember says that nothing is asked twice.
func (s *SecondModel) Gradients(tok *tokenize.Tokenizer, remember bool) *recall.Recall {
	own := s.engine.Tokenizer()
	if own == nil || s.engine.model.Info().NoGradients != "" || !own.Same(tok) {
		return nil
	}
	memo := s.engine.memo
	if !remember {
		memo = nil
	}
	return recall.New(s.engine.model, memo)
}
