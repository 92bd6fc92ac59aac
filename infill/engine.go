package infill

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"infill/infill/internal/chains"
	"infill/infill/internal/choosing"
	"infill/infill/internal/recall"
	"infill/infill/internal/search"
	"infill/infill/internal/space"
	"infill/infill/internal/target"
	"infill/infill/lengths"
	"infill/infill/text"
	"infill/internal/gate"
	"infill/mlm"
	"infill/tokenize"
)

// An Engine fills sentences with one model. It is safe for concurrent use;
// sentences filled at the same time share the model's batches.
//
// Concurrent fills advance in step: a hundred started together finish at about the same time, so
// one deadline may cancel all of them. Four for each of mlm.Options.Threads keep the model busy,
// and the others wait for their turn before they call Fill. Results do not depend on it. Memory
// does.
type Engine struct {
	model    *mlm.Model // nil: everything is refused
	supports *space.Supports
	memo     *recall.Memo // nil: nothing is remembered
	shares   func() (*lengths.Shares, error)
	alike    atomic.Pointer[tokenize.Tokenizer] // another one with the tokens of the model's
}

// DefaultMemo is the memory that an engine has for what the model said, in bytes. With a vocabulary
// of 30,522 it has room for 2,190 whole rows, or for 540 gradients of four blanks.
const DefaultMemo = 256 << 20

// New returns an engine on a model. It remembers what the model says in at most DefaultMemo bytes.
// An engine without a model refuses everything with ErrOption. Package infill/open opens models by
// their names.
func New(m *mlm.Model) *Engine {
	if m == nil || m.Tokenizer() == nil { // or one that was never opened
		return &Engine{}
	}
	return &Engine{model: m, supports: space.NewSupports(m.Tokenizer()),
		memo:   recall.NewMemo(DefaultMemo),
		shares: sync.OnceValues(func() (*lengths.Shares, error) { return readShares(m) })}
}

// WithMemo gives the engine, which has filled nothing yet, another number of bytes for what the
// model says, and returns it. 0 or less remembers nothing. Energies, gradients and conditionals
// that are remembered are not evaluated again, within a sentence and from one sentence to the next.
// Results are the same bits whatever the number is.
func (e *Engine) WithMemo(bytes int64) *Engine {
	e.memo = nil
	if bytes > 0 && e.model != nil {
		e.memo = recall.NewMemo(bytes)
	}
	return e
}

// Close closes the engine's model. Where others use that as well, nothing has to be closed but it.
func (e *Engine) Close() error {
	if e == nil || e.model == nil {
		return nil
	}
	return e.model.Close()
}

// Forget drops what the engine remembers of the model's answers. What is filled next is filled at
// the cost, and with the result, that it has by itself.
func (e *Engine) Forget() {
	if e.memo != nil {
		e.memo.Forget()
	}
}

// Tokenizer is the tokenizer of the engine's model, nil without a model.
func (e *Engine) Tokenizer() *tokenize.Tokenizer {
	if e == nil || e.model == nil {
		return nil
	}
	return e.model.Tokenizer()
}

// Fill fills the blanks of a template.
//
// One blank of one token, or one with a list, has as many states as it has fillings. Then
// all are computed, and the best are returned with their probabilities.
//
// Otherwise the fillings with the best scores are searched, or, where Options.Method says so,
// chains of states are sampled. Chains start from independent draws of what the model says of each
// blank with all of them masked. The states that Options.Results.Collect takes, duplicates merged,
// are ranked by Options.Results.Score. In the first Options.Sampling.Steps/2 steps, a burn-in, the
// sampler adapts.
//
// Where a template leaves the number of tokens of a blank open, a search looks at maxLengths
// combinations of them at most, and every chain
// draws it once, uniformly and independently of the others' blanks, and then
// samples the tokens from π given the lengths: the joint distribution is
// uniform over lengths. Scores then have a part for the length, see Parts.Length, but for ScorePLL,
// where the score per token ranks.
//
// A text whose blanks lie too far apart for the model to see all at once is filled in groups from
// the left, see Result.Groups. Each group sees the best words of those before it.
//
// Errors: ErrOption, also for a template or a list of words that was made with the tokenizer of
// another vocabulary, ErrEmptySupport, ErrFiltered, mlm.ErrTooLong, mlm.ErrNotFinite for a term's
// value, too, the sampler's own parameters (samplers.ErrParam), the model's, or the cause of ctx's
// end.
func (e *Engine) Fill(ctx context.Context, t *text.Template, opt Options) (*Result, error) {
	if err := e.usable(ctx, t, &opt); err != nil {
		return nil, err
	}
	if err := opt.Prepare(); err != nil {
		return nil, err
	}
	var res *Result
	err := gate.Compute(ctx, e.model, func(ctx context.Context) (err error) {
		res, err = e.run(ctx, t, &opt)
		return err
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// FillText fills the blanks of a text, see [text.Parse] and [Engine.Fill].
func (e *Engine) FillText(ctx context.Context, s string, opt Options) (*Result, error) {
	if err := e.Ready(ctx); err != nil {
		return nil, err
	}
	t, err := text.Parse(e.Tokenizer(), s)
	if err != nil {
		return nil, err
	}
	return e.Fill(ctx, t, opt)
}

// run is Fill with one of the model's places.
func (e *Engine) run(ctx context.Context, t *text.Template, opt *Options) (*Result, error) {
	if opt.EndShown {
		t = t.WithEnd()
	}
	t = t.With(opt.Words.Unit)
	if parts, err := e.parts(t, opt); err != nil {
		return nil, err
	} else if parts != nil {
		return e.parted(ctx, t, parts, opt)
	}
	p, err := e.resolve(ctx, t, opt)
	if err != nil {
		return nil, err
	}
	res, err := e.fill(ctx, p)
	if err != nil {
		return nil, err
	}
	res.Numbers, res.Shown = p.Numbers, t.Shown
	res.Evaluated += p.Rows
	if res.Exact { // the share of numbers was read from the same row
		res.Fresh = min(res.Rows, res.Fresh+p.Rows)
	}
	return res, nil
}

// fill is Fill of a task.
func (e *Engine) fill(ctx context.Context, p *target.Task) (*Result, error) {
	only, way := onlyOf(p), MethodSample
	switch {
	case only != nil:
		way = MethodExact
	case p.Opt.Method == MethodSearch:
		way = MethodSearch
	}
	if p.Opt.Watch.Chosen != nil {
		if err := p.Opt.Watch.Chosen(way); err != nil {
			return nil, err
		}
	}
	if p.Opt.Results.Rank != nil && only == nil {
		return nil, fmt.Errorf("%w: the rank of a word is known for one blank whose words are all "+
			"computed; write one blank, of one piece or with a list, and no method", text.ErrOption)
	}
	c, err := e.chooser(ctx, p)
	if err != nil {
		return nil, err
	}
	switch way {
	case MethodExact:
		return (&exact{c, only}).fill(ctx)
	case MethodSearch:
		return search.Run(ctx, c)
	}
	return chains.Run(ctx, c)
}

// chooser is the chooser of a task.
func (e *Engine) chooser(ctx context.Context, p *target.Task) (*choosing.Chooser, error) {
	return choosing.New(p, func(s string, spans [][2]int) (*float64, error) {
		original, err := e.scoreSpans(ctx, s, spans, p.Opt.Results.Score)
		if err != nil {
			return nil, err
		}
		return &original.Score, nil
	})
}

// fit cuts a template that is too long, leaving room for its longest filling, and for the words
// that stood in its blanks if they are scored there.
func (e *Engine) fit(t *text.Template, lists [][]text.Phrase, opt *Options) (*text.Template,
	error) {
	room := 0
	before := make([]int, len(t.Blanks)) // pieces of these words
	if opt.Words.Filter.MaxDrop != nil && len(opt.Words.Original) == len(t.Blanks) {
		for i, w := range opt.Words.Original {
			enc, err := e.model.Tokenizer().Pieces(w)
			if err != nil {
				return nil, err
			}
			before[i] = len(enc.IDs)
		}
	}
	for g := range t.Groups {
		longest := longestOf(&t.Groups[g], lists[g])
		for _, b := range t.Groups[g].Blanks {
			room += max(longest, before[b]) - 1
		}
	}
	limit := e.model.MaxLength()
	if n := len(t.IDs) + room; opt.RefuseLong && limit > 0 && n > limit {
		return nil, &LengthError{Pieces: n, Limit: limit}
	}
	return t.Cut(limit, room)
}
