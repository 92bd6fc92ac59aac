package infill

import (
	"context"
	"fmt"

	"infill/mlm"
)

// A PieceScore is what the model says of one word piece.
type PieceScore struct {
	Piece   string
	ID      int32
	Span    [2]int  // bytes of the text
	LogProb float64 // log f(piece | the rest, this piece masked), nats
}

// A Score is the pseudo-log-likelihood of a complete sentence:
//
//	Σ over word pieces of log f(piece | the rest, that piece masked)
//
// in nats (Salazar et al., "Masked language model scoring", ACL 2020). It is
// what U(θ) would be if every piece of the sentence were a blank.
type Score struct {
	Text          string
	Score         float64 // nats
	ScorePerToken float64 // Score over the number of pieces
	Pieces        []PieceScore
}

// Score computes the pseudo-log-likelihood of a text. Errors: ErrEmpty, a text
// with blanks (ErrBlank), mlm.ErrTooLong, invalid UTF-8.
func (e *Engine) Score(ctx context.Context, text string) (*Score, error) {
	tok := e.model.Tokenizer()
	if err := checkText(text, "write a complete sentence"); err != nil {
		return nil, err
	}
	text, blanks, err := parseBlanks(text, tok.Token(tok.MaskID()))
	if err != nil {
		return nil, err
	}
	if len(blanks) > 0 {
		msg := "a score is of a complete sentence; fill the blank first"
		return nil, &TextError{blanks[0].Start, msg, ErrUnfilled}
	}
	return e.score(ctx, text, nil)
}

// ScoreSpans is the part of Score that belongs to some bytes of a text: the sum
// over the word pieces that have bytes in one of the spans, the others being
// context only. For the filled blanks of a text and the model that filled them
// this is U(θ); a model with another vocabulary may cut the same words into more
// or fewer pieces. Errors: those of Score, and ErrOption for spans that are none.
func (e *Engine) ScoreSpans(ctx context.Context, text string, spans [][2]int) (*Score, error) {
	if err := checkText(text, "write a complete sentence"); err != nil {
		return nil, err
	}
	for _, s := range spans {
		if s[0] < 0 || s[1] < s[0] || s[1] > len(text) {
			return nil, fmt.Errorf("%w: span %v of a text of %d bytes", ErrOption, s, len(text))
		}
	}
	return e.score(ctx, text, func(piece [2]int) bool {
		for _, s := range spans {
			if piece[0] < s[1] && piece[1] > s[0] {
				return true
			}
		}
		return false
	})
}

// score sums over the pieces whose bytes pick chooses; nil chooses all.
func (e *Engine) score(ctx context.Context, text string,
	pick func(span [2]int) bool) (*Score, error) {
	enc, err := encodeText(e.model.Tokenizer(), text, nil)
	if err != nil {
		return nil, err
	}
	s := &mlm.Sentence{IDs: enc.IDs}
	res := &Score{Text: text}
	var state []int32
	for p, id := range enc.IDs {
		if enc.Special[p] || pick != nil && !pick(enc.Spans[p]) {
			continue
		}
		s.Blanks = append(s.Blanks, p)
		state = append(state, id)
		res.Pieces = append(res.Pieces, PieceScore{Piece: enc.Tokens[p], ID: id, Span: enc.Spans[p]})
	}
	if len(state) == 0 {
		return nil, &TextError{-1, "the text has no word piece to score", ErrEmpty}
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
