package infill

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"infill/infill/internal/target"
	"infill/infill/request"
	"infill/infill/text"
	"infill/mlm"
)

// ScoreOptions say how [Engine.Score] scores a text, and which parts of it too.
type ScoreOptions struct {
	By         Scoring
	RefuseLong bool // see Options.RefuseLong
	Terms      []Weighted
	Words      bool // say what the score of each word is
	// Cut are the bytes of the words, in order and not one within another; nil: words as they are
	// written, such as didn't and well-known, or with Parts as the tokenizer tells them apart. A
	// piece of two words belongs to the first.
	Cut   [][2]int
	Parts bool
	// Regions are bytes of parts of the text, which have the score of the pieces that they touch.
	Regions [][2]int
}

// complete is a text without its escapes, or an error if it has a blank.
func (e *Engine) complete(sentence string) (string, error) {
	p, err := text.Read(e.model.Tokenizer(), sentence)
	if err == nil {
		err = text.CheckText(sentence, "write a complete sentence")
	}
	if err != nil {
		return "", err
	}
	if len(p.Blanks) > 0 {
		return "", &text.Error{Offset: p.Blanks[0].Start,
			Msg: "a score is of a complete sentence; fill the blank first", Err: ErrUnfilled}
	}
	return p.Text, nil
}

// checkSpans refuses spans that are not bytes of a text.
func checkSpans(sentence string, spans [][2]int) error {
	for _, s := range spans {
		if s[0] < 0 || s[1] < s[0] || s[1] > len(sentence) {
			return fmt.Errorf("%w: %v of a text of %d bytes, want bytes from its start to its end",
				text.ErrSpan, s, len(sentence))
		}
	}
	return nil
}

// Score scores a complete text. A piece's LogProb is its part of the score. Further parts of the
// energy judge the text as if blanks had filled all of it, and no words had stood there before.
//
// Errors: ErrEmpty, ErrBlank for a text with blanks, invalid UTF-8, ErrOption for terms out of
// range, ErrSpan for words and regions that are not of the text, mlm.ErrNotFinite, a term's, or
// with RefuseLong a *LengthError.
func (e *Engine) Score(ctx context.Context, sentence string, o ScoreOptions) (*Score, error) {
	terms := o.Terms
	if err := request.CheckTerms(terms); err != nil {
		return nil, err
	}
	if o.By < ScoreBlended || int(o.By) >= len(o.By.Names()) {
		return nil, fmt.Errorf("%w: score %d, want ScoreBlended to ScoreWithinWord", text.ErrOption,
			o.By)
	}
	if err := e.Ready(ctx); err != nil {
		return nil, err
	}
	plain, err := e.complete(sentence)
	if err != nil {
		return nil, err
	}
	if plain != sentence && (o.Cut != nil || o.Regions != nil) {
		return nil, fmt.Errorf("%w: words and regions are of a text without escapes", text.ErrSpan)
	}
	if err := cmp.Or(checkSpans(plain, o.Cut), checkSpans(plain, o.Regions)); err != nil {
		return nil, err
	}
	s, err := e.score(ctx, plain, o, nil)
	if err != nil || len(terms) == 0 {
		return s, err
	}
	whole := []Finished{{Text: s.Text, Spans: [][2]int{{0, len(s.Text)}}}}
	s.Energies = map[string]float64{ModelEnergy: s.Score}
	x := &target.Extra{Terms: terms}
	for i, w := range terms {
		v := []float64{0}
		if w.Weight != 0 {
			if err := x.Ask(ctx, i, whole, v); err != nil {
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

// ScoreSpans is the part of Score that belongs to some bytes of a text: the sum over the word
// pieces that have bytes in one of the spans, the others being context only. For the filled blanks
// of a text and the model that filled them this is by ScorePLL U(θ); a model with another
// vocabulary may cut the same words into more or fewer pieces. Errors are as in Score,
// mlm.ErrTooLong, and ErrSpan for spans that are none, or that have no bytes of a word piece.
func (e *Engine) ScoreSpans(ctx context.Context, sentence string, spans [][2]int,
	by Scoring) (*Score, error) {
	if err := e.Ready(ctx); err != nil {
		return nil, err
	}
	if err := text.CheckText(sentence, "write a complete sentence"); err != nil {
		return nil, err
	}
	if err := checkSpans(sentence, spans); err != nil {
		return nil, err
	}
	picked := func(_ int, piece [2]int) bool {
		return slices.ContainsFunc(spans, func(s [2]int) bool { return overlap(piece, s) })
	}
	return e.score(ctx, sentence, ScoreOptions{By: by, RefuseLong: true}, picked)
}

// ErrUnfilled is returned for a blank in a text that is to be complete. It
// wraps ErrBlank.
var ErrUnfilled = fmt.Errorf("%w: it is not filled in", text.ErrBlank)

// errNoPiece is the error of spans without a word piece.
var errNoPiece = fmt.Errorf("%w: there is no word piece in it; give the bytes of words",
	text.ErrSpan)

// score sums over the pieces that pick chooses by their place and their bytes; nil chooses all.
func (e *Engine) score(ctx context.Context, sentence string, o ScoreOptions,
	pick func(p int, span [2]int) bool) (*Score, error) {
	enc, err := text.Encode(e.model.Tokenizer(), sentence, nil)
	if err != nil {
		return nil, err
	}
	limit := e.model.MaxLength()
	windows := pick == nil && limit > 0 && len(enc.IDs) > limit
	if windows && o.RefuseLong {
		return nil, &LengthError{Pieces: len(enc.IDs), Limit: limit}
	}
	s := &mlm.Sentence{IDs: enc.IDs}
	res := &Score{Text: sentence}
	var state []int32
	for p, id := range enc.IDs {
		if !enc.Special[p] && (pick == nil || pick(p, enc.Spans[p])) {
			s.Blanks, state = append(s.Blanks, p), append(state, id)
			res.Pieces = append(res.Pieces, PieceScore{Piece: enc.Tokens[p], ID: id, Span: enc.Spans[p]})
		}
	}
	switch {
	case len(state) > 0:
	case pick != nil:
		return nil, errNoPiece
	default:
		return nil, &text.Error{Offset: -1, Msg: "the text has no word piece to score",
			Err: text.ErrEmpty}
	}
	m, err := e.model.Float32(ctx)
	if err != nil {
		return nil, err
	}
	word := wordNumbers(s.Blanks, enc.Continuation)
	terms := scoredBy(o.By, word)
	own := len(terms)
	if o.Words || o.Regions != nil {
		if o.Cut != nil {
			word = cutWords(res.Pieces, o.Cut)
		} else if !o.Parts {
			word = written(res.Pieces, word, text.Words(sentence))
		}
		terms = append(terms, withinWord(word)...)
	}
	var values []float64
	if windows {
		values, res.Windows, err = e.windowed(ctx, m, s, terms, limit)
	} else {
		values, err = target.TermValues(ctx, m, e.model.Tokenizer().MaskID(), s, state, terms)
	}
	if err != nil {
		return nil, err
	}
	for i := range terms[:own] {
		v := terms[i].Weight(o.By) * values[i]
		res.Pieces[terms[i].At].LogProb += v
		res.Score += v
	}
	if o.Words {
		res.Words = res.words(word, values[own:], o.Cut)
	}
	res.Regions = res.regions(values[min(own, len(values)):], o.Regions)
	res.ScorePerToken = res.Score / float64(len(state))
	return res, nil
}

// windowTerms bounds the terms that are asked for at once. Each has a copy of its window.
const windowTerms = 1000

// windowed are the values of the terms of a text of more ids than the limit. Each is asked for in a
// window of its own: the ids around its token, as many on both sides, or more on one side where the
// other has fewer. n is the number of windows.
func (e *Engine) windowed(ctx context.Context, m target.TokenAsker, s *mlm.Sentence,
	terms []target.ScoreTerm, limit int) (values []float64, n int, err error) {
	size := limit - 2 // without the special tokens at both ends
	inner := s.IDs[1 : len(s.IDs)-1]
	window := &mlm.Sentence{IDs: slices.Concat(s.IDs[:1], inner[:size], s.IDs[len(s.IDs)-1:])}
	for i := range size {
		window.Blanks = append(window.Blanks, i+1)
	}
	starts := map[int]bool{}
	for some := range slices.Chunk(terms, windowTerms) {
		var states [][]int32
		var at []int
		for _, t := range some {
			p := s.Blanks[t.At] - 1
			from := min(max(p-(size-1)/2, 0), len(inner)-size)
			state := slices.Clone(inner[from : from+size])
			first, _ := slices.BinarySearch(s.Blanks, from+1)
			last, _ := slices.BinarySearch(s.Blanks, from+1+size)
			for i := max(t.From, first); i < min(t.To, last); i++ {
				if i != t.At {
					state[s.Blanks[i]-1-from] = e.model.Tokenizer().MaskID()
				}
			}
			states, at = append(states, state), append(at, p-from)
			starts[from] = true
		}
		lp := make([]float32, len(some))
		if err := m.TokenLogProb(ctx, window, states, at, lp); err != nil {
			return nil, 0, err
		}
		for _, v := range lp {
			values = append(values, float64(v))
		}
	}
	return values, len(starts), nil
}
