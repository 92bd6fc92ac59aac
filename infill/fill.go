package infill

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"infill/infill/internal/chains"
	"infill/infill/internal/choosing"
	"infill/infill/internal/search"
	"infill/infill/internal/target"
	"infill/infill/text"
	"infill/internal/gate"
)

// Fill fills the blanks of a template.
//
// One blank of one token, or one with a list, has as many states as it has fillings. Then
// all are computed, and the best are returned with their probabilities.
//
// Otherwise the fillings with the best scores are searched, or, where Options.Method says so,
// chains of states are sampled. Chains start from independent draws of each blank's distribution
// with all blanks masked. The states that Options.Results.Collect takes, duplicates merged, are
// ranked by Options.Results.Score. In the first Options.Sampling.Steps/2 steps, a burn-in, the
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
// the left, see Result.Groups. Each group sees the best words of the groups before it.
//
// Errors: ErrOption, also for a template or a list of words that was made with the tokenizer of
// another vocabulary, ErrEmptySupport, ErrFiltered, mlm.ErrTooLong, mlm.ErrNotFinite for a term's
// value, too, the sampler's own parameters (samplers.ErrParam), the model's, or the cause of ctx's
// end. Work ends shortly before a deadline of ctx: then the result has the fillings found by that
// time, beside context.DeadlineExceeded.
func (e *Engine) Fill(ctx context.Context, t *text.Template, opt Options) (*Result, error) {
	if err := e.usable(ctx, t, &opt); err != nil {
		return nil, err
	}
	if err := opt.Prepare(); err != nil {
		return nil, err
	}
	key := filledKey(t, &opt)
	if was, ok := e.memo.Kept(key).(*Result); ok {
		return again(was, &opt)
	}
	own, err := e, error(nil)
	if opt.NeedsGradient() {
		if own, err = e.differentiable(ctx, &opt); err != nil {
			return nil, err
		}
	}
	opt.EndBefore(ctx)
	var res *Result
	err = gate.Compute(ctx, own.model, func(ctx context.Context) (err error) {
		res, err = own.run(ctx, t, &opt)
		return err
	})
	if err != nil {
		return nil, err
	}
	if key != "" && res.Ended == EndedItself {
		kept, err := again(res, &Options{})
		if err != nil {
			return nil, err
		}
		e.memo.Keep(key, kept, bytesOf(kept))
	}
	if res.Ended == EndedStopped && opt.Late() {
		return res, context.DeadlineExceeded
	}
	return res, nil
}

// filledKey stands for all that decides a result, "" where draws do or Options.Alike is not known.
func filledKey(t *text.Template, opt *Options) string {
	if opt.Alike == "" || opt.Method == MethodSample {
		return ""
	}
	parts := append([]string{"filled", opt.Alike, t.Source()}, opt.Words.Original...)
	return strings.Join(parts, "\x00")
}

// again is a result that was computed before, with lists of its own.
func again(was *Result, opt *Options) (*Result, error) {
	if opt.Watch.Chosen != nil {
		if err := opt.Watch.Chosen(was.Method); err != nil {
			return nil, err
		}
	}
	res := *was
	res.Fillings = slices.Clone(was.Fillings)
	res.Fresh, res.Evaluated = 0, 0
	return &res, nil
}

// bytesOf is about the memory of a result: for each filling twice its text, and for each piece the
// number, its spelling, and its place in lists.
func bytesOf(r *Result) (n int64) {
	for i := range r.Fillings {
		f := &r.Fillings[i]
		n += 400 + 2*int64(len(f.Text)) + 80*int64(len(f.IDs)) + 64*int64(len(f.Energies))
	}
	return n + 1024
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
		original, err := e.ScoreSpans(ctx, s, spans, p.Opt.Results.Score)
		if err != nil {
			return nil, err
		}
		return &original.Score, nil
	})
}
