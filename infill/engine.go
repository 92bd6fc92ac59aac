package infill

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"infill/infill/internal/recall"
	"infill/infill/internal/space"
	"infill/infill/lengths"
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
//
// A model that was opened without its backward pass is opened again, with it, by the first fill
// whose sampler needs gradients. Such a fill is altogether of that model.
type Engine struct {
	model    *mlm.Model // nil: everything is refused
	supports *space.Supports
	memo     *recall.Memo // nil: nothing is remembered
	shares   func() (*lengths.Shares, error)
	alike    atomic.Pointer[tokenize.Tokenizer] // another one with the tokens of the model's
}

// DefaultMemo is the memory that an engine has for the model's answers, in bytes. With a vocabulary
// of 30,522 it has room for 2,190 whole rows, or for 540 gradients of four blanks.
const DefaultMemo = 256 << 20

// New returns an engine on a model. It remembers the model's answers in at most DefaultMemo bytes.
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

// WithMemo gives the engine, which has filled nothing yet, another number of bytes for the model's
// answers, and returns it. 0 or less remembers nothing. Energies, gradients and conditionals in
// memory are not evaluated again, within a sentence and from one sentence to the next. Results are
// the same bits whatever the number is.
func (e *Engine) WithMemo(bytes int64) *Engine {
	e.memo = nil
	if bytes > 0 && e.model != nil {
		e.memo = recall.NewMemo(bytes)
	}
	return e
}

// differentiable is the engine with gradients. The second models of the options get theirs, too.
func (e *Engine) differentiable(ctx context.Context, opt *Options) (_ *Engine, err error) {
	opt.Words.Terms = slices.Clone(opt.Words.Terms)
	for i, w := range opt.Words.Terms {
		s, ok := w.Term.(*SecondModel)
		if !ok || s.engine.model == nil {
			continue
		}
		own := &SecondModel{name: s.name}
		if own.engine, err = s.engine.withGradients(ctx); err != nil {
			return nil, err
		}
		opt.Words.Terms[i].Term = own
	}
	return e.withGradients(ctx)
}

// withGradients is the engine on its model with gradients, see [mlm.Model.WithGradients].
func (e *Engine) withGradients(ctx context.Context) (*Engine, error) {
	m, err := e.model.WithGradients(ctx)
	if err != nil || m == e.model {
		return e, err
	}
	return &Engine{model: m, supports: e.supports, memo: e.memo, shares: e.shares}, nil
}

// Close closes the engine's model. Where others use that as well, nothing has to be closed but it.
func (e *Engine) Close() error {
	if e == nil || e.model == nil {
		return nil
	}
	return e.model.Close()
}

// Forget drops the model's answers from memory. The next text has the cost, and the result, that it
// has by itself.
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

// readShares reads the shares of lengths of gaps that the model has learned. A model without their
// file has constant shares.
func readShares(m *mlm.Model) (*lengths.Shares, error) {
	data, err := m.Beside(lengths.File, lengths.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) || err == nil && m.StateWidth() == 0 {
		return lengths.Constant(), nil
	}
	if err != nil {
		return nil, err
	}
	return lengths.Parse(data)
}
