package infill

import (
	"context"
	"fmt"
	"math"

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
	// Energies are the parts of Score by name, weights included, nil without terms.
	Energies map[string]float64
}

// Score computes the pseudo-log-likelihood of a text. Errors: ErrEmpty, a text
// with blanks (ErrBlank), mlm.ErrTooLong, invalid UTF-8.
func (e *Engine) Score(ctx context.Context, text string) (*Score, error) {
	if err := e.ready(ctx); err != nil {
		return nil, err
	}
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

// ScoreWith is Score with further parts of the energy. They judge the text as if blanks had
// filled all of it, and no words had stood there before. Errors: those of Score, ErrOption for
// terms out of range, mlm.ErrNotFinite, or a term's.
func (e *Engine) ScoreWith(ctx context.Context, text string, terms []Weighted) (*Score, error) {
	if err := checkTerms(terms); err != nil {
		return nil, err
	}
	s, err := e.Score(ctx, text)
	if err != nil || len(terms) == 0 {
		return s, err
	}
	whole := []Finished{{Text: s.Text, Spans: [][2]int{{0, len(s.Text)}}}}
	s.Energies = map[string]float64{ModelEnergy: s.Score}
	x := &extra{terms: terms}
	for i, w := range terms {
		v := []float64{0}
		if w.Weight != 0 {
			if err := x.ask(ctx, i, whole, v); err != nil {
				return nil, err
			}
		}
		part := w.Weight*v[0] + 0 // −0 is 0
		if math.IsNaN(part) || math.IsInf(part, 0) {
			return nil, fmt.Errorf("%w: part %s of the energy is %v", mlm.ErrNotFinite, w.Term.Name(), v[0])
		}
		s.Energies[w.Term.Name()] = part
		s.Score += part
	}
	s.ScorePerToken = s.Score / float64(len(s.Pieces))
	return s, nil
}

// ScoreSpans is the part of Score that belongs to some bytes of a text: the sum
// over the word pieces that have bytes in one of the spans, the others being
// context only. For the filled blanks of a text and the model that filled them
// this is U(θ); a model with another vocabulary may cut the same words into more
// or fewer pieces. Errors: those of Score, and ErrSpan for spans that are none, or that have no
// bytes of a word piece.
func (e *Engine) ScoreSpans(ctx context.Context, text string, spans [][2]int) (*Score, error) {
	if err := e.ready(ctx); err != nil {
		return nil, err
	}
	if err := checkText(text, "write a complete sentence"); err != nil {
		return nil, err
	}
	for _, s := range spans {
		if s[0] < 0 || s[1] < s[0] || s[1] > len(text) {
			return nil, fmt.Errorf("%w: %v of a text of %d bytes, want bytes from its start to its end",
				ErrSpan, s, len(text))
		}
	}
	return e.score(ctx, text, func(piece [2]int) bool {
		for _, s := range spans {
			if max(piece[0], s[0]) < min(piece[1], s[1]) {
				return true
			}
		}
		return false
	})
}

// errNoPiece is the error of spans without a word piece.
var errNoPiece = fmt.Errorf("%w: there is no word piece in it; give the bytes of words", ErrSpan)

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
		if pick != nil {
			return nil, errNoPiece
		}
		return nil, &TextError{-1, "the text has no word piece to score", ErrEmpty}
	}
	logProb := rows[float32](nil, 1, len(state))
	m, err := e.model.Float32(ctx)
	if err != nil {
		return nil, err
	}
	if err := m.LogProb(ctx, s, [][]int32{state}, logProb); err != nil {
		return nil, err
	}
	for i, l := range logProb[0] {
		res.Pieces[i].LogProb = float64(l)
		res.Score += float64(l)
	}
	res.ScorePerToken = res.Score / float64(len(state))
	return res, nil
}
