package mlm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"infill/internal/textline"
	"infill/tokenize"
)

// ErrNoPieces: the text to evaluate on has no piece that the model could predict.
var ErrNoPieces = errors.New("nothing to predict")

// EvalOptions steer [Model.Eval]; the zero value is the usual protocol.
type EvalOptions struct {
	// Rate is the share of a line's word pieces that is masked, in (0,1]; 0
	// means 0.15. Every line has at least one.
	Rate float64
	// Seed picks the pieces; the choice for a line depends on it and on the
	// line's number only.
	Seed uint64
	// MaxLines ends the evaluation early; 0 reads everything, and a number below 0 is an errOption.
	MaxLines int
	// Progress, if set, is called now and then with the lines done so far.
	Progress func(lines int)
}

// Accuracy sums up predictions of masked pieces.
type Accuracy struct {
	Masked     int     `json:"masked"`     // pieces predicted
	Top1       float64 `json:"top1"`       // share in [0,1] whose most probable token is right
	Top5       float64 `json:"top5"`       // share with the right token among the five most probable
	Perplexity float64 `json:"perplexity"` // exp of the mean negative log-probability, ≥ 1
}

// rankBand is the accuracy on the pieces of one range of frequency ranks.
type rankBand struct {
	FromRank int `json:"from_rank"` // 1 is the most frequent piece of the text
	ToRank   int `json:"to_rank"`   // inclusive; 0: without end
	Accuracy
}

// evalReport is what [Model.Eval] found.
type evalReport struct {
	Accuracy
	Lines   int        `json:"lines"`    // evaluated
	Pieces  int        `json:"pieces"`   // in those lines, special tokens not counted
	TooLong int        `json:"too_long"` // lines skipped because the model cannot take them
	Empty   int        `json:"empty"`    // lines skipped because they have no piece
	Bands   []rankBand `json:"bands"`
}

// bandEnds are the last ranks of all bands but the open one.
var bandEnds = []int{100, 1000, 5000}

// maxLine bounds a line of text, in bytes; a model's longest sentence is far shorter.
const maxLine = 1 << 20

// At most evalLines lines are in flight at once, enough to fill the batches, and of long ones so
// few that they predict about evalPieces pieces. Each piece has a vector of the vocabulary.
const evalLines, evalPieces = 64, 1024

// tally counts the predictions of one token; sums run in the order of lines.
type tally struct {
	seen, masked, top1, top5 int
	nll                      float64
}

// prediction is one masked piece.
type prediction struct {
	id   int32
	rank int // tokens more probable than the right one
	lp   float64
}

// line is one line of the text and what became of it.
type line struct {
	number int
	text   string
	ids    []int32 // pieces without special tokens
	preds  []prediction
	long   bool
	err    error
}

// Eval masks a share of the word pieces of every line of text (always with
// the mask token, all of a line at once), predicts them and reports how often
// the model is right. The text streams, and memory does not grow with it: in work
// are 64 lines, or fewer with about 1,024 pieces to predict. Each piece has a vector of the
// vocabulary.
//
// Errors: a line that is not UTF-8 (tokenize.ErrInvalidUTF8) or longer than 1 MiB
// (tokenize.ErrTooLarge), a piece with a log-probability that is not finite
// (ErrNotFinite), a text without a piece to predict (ErrNoPieces), errOption,
// and read errors.
func (m *Model) Eval(ctx context.Context, text io.Reader, o EvalOptions) (*evalReport, error) {
	if text == nil {
		return nil, fmt.Errorf("%w: there is no text to read; pass a file or strings.NewReader",
			errOption)
	}
	if m.sched == nil {
		return nil, errClosed
	}
	if o.Rate == 0 {
		o.Rate = 0.15
	}
	if !(o.Rate > 0 && o.Rate <= 1) {
		return nil, fmt.Errorf("%w: mask rate %v, it must be above 0 and at most 1", errOption, o.Rate)
	}
	if o.MaxLines < 0 {
		return nil, fmt.Errorf("%w: %d lines to read, want their number, or 0 for all", errOption,
			o.MaxLines)
	}
	r := &evalReport{}
	tallies := make([]tally, m.info.Vocab)
	in := textline.NewReader(text, maxLine)
	read, more := 0, true
	for more {
		var chunk []*line
		for pieces := 0.0; len(chunk) < evalLines && pieces < evalPieces; {
			if o.MaxLines > 0 && read == o.MaxLines {
				more = false
				break
			}
			b, err := in.Next()
			if err == io.EOF {
				more = false
				break
			}
			if errors.Is(err, textline.ErrTooLong) {
				err = fmt.Errorf("line %d is longer than %d bytes: %w", in.Number(), maxLine,
					tokenize.ErrTooLarge)
			} else if err != nil {
				err = fmt.Errorf("after line %d: %w", read, err)
			}
			if err != nil {
				return nil, err
			}
			read++
			chunk = append(chunk, &line{number: read, text: string(b)})
			pieces += o.Rate * float64(m.manyPieces(len(b)))
		}
		if err := m.evalChunk(ctx, chunk, o); err != nil {
			return nil, err
		}
		for _, l := range chunk {
			r.add(l, tallies)
		}
		if o.Progress != nil && len(chunk) > 0 {
			o.Progress(read)
		}
	}
	if r.Pieces == 0 {
		return nil, fmt.Errorf("%w: %d lines were read, %d of them empty and %d too long for the "+
			"model; give a text of sentences, one a line", ErrNoPieces, read, r.Empty, r.TooLong)
	}
	r.summarise(tallies)
	return r, nil
}

// evalChunk predicts the masked pieces of some lines, together.
func (m *Model) evalChunk(ctx context.Context, chunk []*line, o EvalOptions) error {
	var group sync.WaitGroup
	for _, l := range chunk {
		group.Go(func() { l.err = m.evalLine(ctx, l, o) })
	}
	group.Wait()
	for _, l := range chunk {
		if l.err != nil {
			return fmt.Errorf("line %d: %w", l.number, l.err)
		}
	}
	return nil
}

// manyPieces is about how many pieces the model takes of a line: English has one in four bytes.
func (m *Model) manyPieces(bytes int) int {
	if limit := m.info.MaxLength; limit > 0 {
		return min(bytes/4+1, limit)
	}
	return bytes/4 + 1
}

func (m *Model) evalLine(ctx context.Context, l *line, o EvalOptions) error {
	if strings.TrimSpace(l.text) == "" {
		return nil
	}
	enc, err := m.tok.Encode(l.text)
	if err != nil {
		return err
	}
	var places []int
	for p, id := range enc.IDs {
		if !enc.Special[p] {
			places = append(places, p)
			l.ids = append(l.ids, id)
		}
	}
	if limit := m.info.MaxLength; limit > 0 && len(enc.IDs) > limit {
		l.long = true
		return nil
	}
	if len(places) == 0 {
		return nil
	}
	s := &Sentence{IDs: enc.IDs, Blanks: choose(places, o.Rate, o.Seed, l.number)}
	out := make([][]float32, len(s.Blanks))
	for i := range out {
		out[i] = make([]float32, m.info.Vocab)
	}
	if err := m.Independent(ctx, s, out); err != nil {
		return err
	}
	for i, p := range s.Blanks {
		id := enc.IDs[p]
		lp := out[i][id]
		if math.IsNaN(float64(lp)) || math.IsInf(float64(lp), 0) {
			return fmt.Errorf("%w: log-probability %v of %q", ErrNotFinite, lp, m.tok.Token(id))
		}
		rank := 0
		for _, v := range out[i] {
			if v > lp {
				rank++
			}
		}
		l.preds = append(l.preds, prediction{id, rank, float64(lp)})
	}
	return nil
}

// choose picks round(rate·n) of the places, at least one, ascending.
func choose(places []int, rate float64, seed uint64, number int) []int {
	n := max(1, int(math.Round(rate*float64(len(places)))))
	rng := rand.New(rand.NewPCG(seed, uint64(number)))
	picked := make([]int, n)
	for i, j := range rng.Perm(len(places))[:n] {
		picked[i] = places[j]
	}
	slices.Sort(picked)
	return picked
}

func (r *evalReport) add(l *line, tallies []tally) {
	switch {
	case l.long:
		r.TooLong++
		return
	case len(l.preds) == 0:
		r.Empty++
		return
	}
	r.Lines++
	r.Pieces += len(l.ids)
	for _, id := range l.ids {
		tallies[id].seen++
	}
	for _, p := range l.preds {
		t := &tallies[p.id]
		t.masked++
		t.nll -= p.lp
		if p.rank < 1 {
			t.top1++
		}
		if p.rank < 5 {
			t.top5++
		}
	}
}

// summarise sorts the tokens by how often the text has them and adds up the
// bands. Equally frequent tokens keep the order of their ids.
func (r *evalReport) summarise(tallies []tally) {
	slices.SortStableFunc(tallies, func(a, b tally) int { return cmp.Compare(b.seen, a.seen) })
	var all tally
	from := 1
	for _, end := range append(slices.Clone(bandEnds), 0) {
		to := len(tallies)
		if end > 0 {
			to = min(end, to)
		}
		var band tally
		for i := from - 1; i < to; i++ {
			t := tallies[i]
			band.masked += t.masked
			band.top1 += t.top1
			band.top5 += t.top5
			band.nll += t.nll
		}
		all.masked += band.masked
		all.top1 += band.top1
		all.top5 += band.top5
		all.nll += band.nll
		if band.masked > 0 {
			r.Bands = append(r.Bands, rankBand{FromRank: from, ToRank: end, Accuracy: band.accuracy()})
		}
		from = end + 1
		if end == 0 || from > len(tallies) {
			break
		}
	}
	r.Accuracy = all.accuracy()
}

func (t tally) accuracy() Accuracy {
	if t.masked == 0 {
		return Accuracy{}
	}
	n := float64(t.masked)
	return Accuracy{Masked: t.masked, Top1: float64(t.top1) / n, Top5: float64(t.top5) / n,
		Perplexity: math.Exp(t.nll / n)}
}
