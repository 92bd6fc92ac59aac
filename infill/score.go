package infill

import (
	"context"
	"fmt"
	"math"

	"infill/infill/internal/text"
	"infill/mlm"
)

// A PieceScore is what the model says of one word piece.
type PieceScore struct {
	Piece   string
	ID      int32
	Span    [2]int  // bytes of the text
	LogProb float64 // log f(piece | the rest, this piece masked), or what Scoring has of it, nats
}

// A Score is the pseudo-log-likelihood of a complete sentence:
//
//	Σ over word pieces of log f(piece | the rest, that piece masked)
//
// in nats (Salazar et al., "Masked language model scoring", ACL 2020), or another sum of such
// logarithms, see [Scoring]. It is what the score of a filling would be if every piece of the
// sentence were a blank.
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
func (e *Engine) Score(ctx context.Context, sentence string) (*Score, error) {
	return e.ScoreText(ctx, sentence, ScorePLL)
}

// ScoreText is Score by another sum. A piece's LogProb is its part of it.
func (e *Engine) ScoreText(ctx context.Context, sentence string, by Scoring) (*Score, error) {
	if by < ScoreBlended || by >= numScorings {
		return nil, fmt.Errorf("%w: score %d, want ScoreBlended to ScoreWithinWord", text.ErrOption, by)
	}
	if err := e.ready(ctx); err != nil {
		return nil, err
	}
	tok := e.model.Tokenizer()
	if err := text.CheckText(sentence, "write a complete sentence"); err != nil {
		return nil, err
	}
	p, err := text.ParseBlanks(sentence, tok.Token(tok.MaskID()))
	if err != nil {
		return nil, err
	}
	if len(p.Blanks) > 0 {
		msg := "a score is of a complete sentence; fill the blank first"
		return nil, &text.Error{Offset: p.Blanks[0].Start, Msg: msg, Err: ErrUnfilled}
	}
	return e.score(ctx, p.Text, by, nil)
}

// ScoreWith is ScoreText with further parts of the energy. They judge the text as if blanks had
// filled all of it, and no words had stood there before. Errors: those of Score, ErrOption for
// terms out of range, mlm.ErrNotFinite, or a term's.
func (e *Engine) ScoreWith(ctx context.Context, sentence string, by Scoring,
	terms []Weighted) (*Score, error) {
	if err := checkTerms(terms); err != nil {
		return nil, err
	}
	s, err := e.ScoreText(ctx, sentence, by)
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
func (e *Engine) ScoreSpans(ctx context.Context, sentence string, spans [][2]int) (*Score, error) {
	return e.scoreSpans(ctx, sentence, spans, ScorePLL)
}

func (e *Engine) scoreSpans(ctx context.Context, sentence string, spans [][2]int,
	by Scoring) (*Score, error) {
	if err := e.ready(ctx); err != nil {
		return nil, err
	}
	if err := text.CheckText(sentence, "write a complete sentence"); err != nil {
		return nil, err
	}
	for _, s := range spans {
		if s[0] < 0 || s[1] < s[0] || s[1] > len(sentence) {
			return nil, fmt.Errorf("%w: %v of a text of %d bytes, want bytes from its start to its end",
				text.ErrSpan, s, len(sentence))
		}
	}
	return e.score(ctx, sentence, by, func(piece [2]int) bool {
		for _, s := range spans {
			if max(piece[0], s[0]) < min(piece[1], s[1]) {
				return true
			}
		}
		return false
	})
}

// ErrUnfilled is returned for a blank in a text that is to be complete. It
// wraps ErrBlank.
var ErrUnfilled = fmt.Errorf("%w: it is not filled in", text.ErrBlank)

// errNoPiece is the error of spans without a word piece.
var errNoPiece = fmt.Errorf("%w: there is no word piece in it; give the bytes of words",
	text.ErrSpan)

// score sums over the pieces whose bytes pick chooses; nil chooses all.
func (e *Engine) score(ctx context.Context, sentence string, by Scoring,
	pick func(span [2]int) bool) (*Score, error) {
	enc, err := text.Encode(e.model.Tokenizer(), sentence, nil)
	if err != nil {
		return nil, err
	}
	s := &mlm.Sentence{IDs: enc.IDs}
	res := &Score{Text: sentence}
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
		return nil, &text.Error{Offset: -1, Msg: "the text has no word piece to score",
			Err: text.ErrEmpty}
	}
	m, err := e.model.Float32(ctx)
	if err != nil {
		return nil, err
	}
	terms := scoreTerms(len(state), by)
	if by == ScoreWithinWord {
		terms = withinWord(s.Blanks, enc.Continuation)
	}
	values, err := termValues(ctx, m, e.model.Tokenizer().MaskID(), s, state, terms)
	if err != nil {
		return nil, err
	}
	for i := range terms {
		v := terms[i].weight(by) * values[i]
		res.Pieces[terms[i].at].LogProb += v
		res.Score += v
	}
	res.ScorePerToken = res.Score / float64(len(state))
	return res, nil
}

// withinWord lists the terms of ScoreWithinWord of the pieces at some positions. inner says which
// positions continue a word.
func withinWord(positions []int, inner []bool) []scoreTerm {
	out := make([]scoreTerm, len(positions))
	for i, p := range positions {
		to := i + 1
		for to < len(positions) && positions[to] == p+to-i && inner[positions[to]] {
			to++
		}
		out[i] = scoreTerm{at: i, from: i, to: to, u: 1}
	}
	return out
}
