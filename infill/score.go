package infill

import (
	"context"

	"infill/mlm"
)

// A PieceScore is what the model says of one word piece.
type PieceScore struct {
	Piece   string  `json:"piece"`
	ID      int32   `json:"id"`
	Span    [2]int  `json:"span"`     // bytes of the text
	LogProb float64 `json:"log_prob"` // log f(piece | the rest, this piece masked), nats
}

// A Score is the pseudo-log-likelihood of a complete sentence:
//
//	Σ over word pieces of log f(piece | the rest, that piece masked)
//
// in nats (Salazar et al., "Masked language model scoring", ACL 2020). It is
// what U(θ) would be if every piece of the sentence were a blank.
type Score struct {
	Text          string       `json:"text"`
	Score         float64      `json:"score"`
	ScorePerToken float64      `json:"score_per_token"`
	Pieces        []PieceScore `json:"pieces"`
}

// Score computes the pseudo-log-likelihood of a text. Errors: ErrEmpty, a text
// with blanks (ErrBlank), mlm.ErrTooLong, invalid UTF-8.
func (e *Engine) Score(ctx context.Context, text string) (*Score, error) {
	tok := e.model.Tokenizer()
	if err := checkText(text, "write a complete sentence"); err != nil {
		return nil, err
	}
	blanks, err := findBlanks(text, tok.Token(tok.MaskID()))
	if err != nil {
		return nil, err
	}
	if len(blanks) > 0 {
		return nil, &TextError{blanks[0].Start, "a score is of a complete sentence; fill the blank first: infill fill", ErrBlank}
	}
	enc, err := tok.Encode(text)
	if err != nil {
		return nil, err
	}
	s := &mlm.Sentence{IDs: enc.IDs}
	res := &Score{Text: text}
	var state []int32
	for p, id := range enc.IDs {
		if enc.Special[p] {
			continue
		}
		s.Blanks = append(s.Blanks, p)
		state = append(state, id)
		res.Pieces = append(res.Pieces, PieceScore{Piece: enc.Tokens[p], ID: id, Span: enc.Spans[p]})
	}
	if len(state) == 0 {
		return nil, &TextError{-1, "the text has special tokens only", ErrEmpty}
	}
	logProb := rows[float32](nil, 1, len(state))
	if err := e.model.LogProb(ctx, s, [][]int32{state}, logProb); err != nil {
		return nil, err
	}
	for i, l := range logProb[0] {
		res.Pieces[i].LogProb = float64(l)
		res.Score += float64(l)
	}
	res.ScorePerToken = res.Score / float64(len(state))
	return res, nil
}
