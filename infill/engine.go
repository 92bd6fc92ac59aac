package infill

import (
	"context"
	"fmt"
	"sync/atomic"

	"infill/infill/internal/recall"
	"infill/infill/internal/space"
	"infill/infill/internal/text"
	"infill/internal/gate"
	"infill/mlm"
	"infill/samplers"
	"infill/tokenize"
)

// An Engine fills sentences with one model. It is safe for concurrent use;
// sentences filled at the same time share the model's batches.
//
// They also advance together. Of a hundred that are begun at once none is done until nearly all
// are, and a deadline ends them all. Four for each of mlm.Options.Threads keep the model busy, and
// the others wait for their turn before they call Fill. Results do not depend on it. Memory does.
type Engine struct {
	model    *mlm.Model // nil: everything is refused
	supports *space.Supports
	memo     *recall.Memo                       // nil: nothing is remembered
	alike    atomic.Pointer[tokenize.Tokenizer] // another one with the tokens of the model's
}

// DefaultMemo is the memory that an engine has for what the model said, in bytes. With a vocabulary
// of 30,522 it has room for 2,190 whole rows, or for 540 gradients of four blanks.
const DefaultMemo = 256 << 20

// New returns an engine on a model, which stays the caller's to close. It remembers what the
// model says in at most DefaultMemo bytes. An engine without a model refuses everything with
// ErrOption.
func New(m *mlm.Model) *Engine { return NewWithMemo(m, DefaultMemo) }

// NewWithMemo is New with another number of bytes for what the model says; 0 or less remembers
// nothing. Energies, gradients and conditionals that are remembered are not evaluated again, within
// a sentence and from one sentence to the next. Results are the same bits whatever the number is.
func NewWithMemo(m *mlm.Model, bytes int64) *Engine {
	if m == nil || m.Tokenizer() == nil { // or one that was never opened
		return &Engine{}
	}
	e := &Engine{model: m, supports: space.NewSupports(m.Tokenizer())}
	if bytes > 0 {
		e.memo = recall.NewMemo(bytes)
	}
	return e
}

// Forget drops what the engine remembers of the model's answers. What is filled next is filled at
// the cost, and with the result, that it has by itself.
func (e *Engine) Forget() {
	if e.memo != nil {
		e.memo.Forget()
	}
}

// Tokenizer is that of the engine's model, nil without a model.
func (e *Engine) Tokenizer() *tokenize.Tokenizer {
	if e == nil || e.model == nil {
		return nil
	}
	return e.model.Tokenizer()
}

// A Filling is a text with its blanks filled.
type Filling struct {
	Text string
	// Tokens are the words in the model's spelling, Pieces its pieces with spaces between, such as
	// walking and walk ##ing, or café and ĠcafÃ©: one string for every blank.
	Tokens, Pieces []string
	Spans          [][2]int // byte span of each blank's filling in Text
	// Score is in nats what Options.Results.Score says of the pieces and, with Options.Words.Terms,
	// Σ λ_k U_k.
	Score         float64
	ScorePerToken float64 // Score over the number of pieces
	Parts         Parts   // what the model's part of Score is made of
	// Energies are the parts of Score by name, weights included, nil without Options.Words.Terms: they
	// sum to it. ModelEnergy is the model's.
	Energies map[string]float64
	// Recut says that the tokenizer cuts the finished text into other pieces than those that were
	// filled in: walk[MASK] may be filled with ##ing, and walking be one piece. Score is
	// then not what Engine.ScoreSpans says of the finished text.
	Recut bool
	// Probability is exp(Score/T) over the sum for all fillings that fit: 0 to 1. With ScorePLL it is
	// π of the text.
	// It is known if Result.Exact, and otherwise 0.
	Probability float64
	// LogProbability is U/T − log Z in nats, for the log Z of the filling's lengths: log π of its
	// tokens given the lengths. It is 0 without Options.Results.Normalize, and NaN where log Z is not
	// known. As an estimate it has the standard error of log Z, the same for all fillings of these
	// lengths.
	LogProbability float64
	// Edits is the Levenshtein distance of Text from the text with Options.Words.Original in its
	// blanks, in characters and without regard to case; 0 without these words.
	Edits int
	// Changed is how many blanks have another word than Options.Words.Original, case and what the
	// model does not read apart; 0 without these words.
	Changed int
	// Similarity is what Filter.Similarity says of Text, nil without it.
	Similarity *float64
	// Chain is the first chain, from 0, whose state this was, and Step the step at which it was, see
	// Collect. Count is how many chains ended here. Of CollectVisited it is how many chains
	// evaluated it, and of CollectChain how often it was taken. All are 0 if Result.Exact.
	Chain, Step, Count int

	ids     []int32 // the pieces
	lengths []int   // of each group of blanks
}

// Len is the number of the model's tokens in the blanks together.
func (f *Filling) Len() int { return len(f.ids) }

// A Result is what filling a sentence gave.
type Result struct {
	Fillings []Filling // best first, at most Options.Results.Top
	Method   Method    // how they were found: never MethodAuto
	Ended    Ending    // why the work ended
	// Exact: the fillings are the likeliest of all and have their probabilities. Nothing was
	// sampled, so that the seed had no part in it. Steps, Stats and Tuned are then empty.
	Exact bool
	// Distinct is the number of different fillings among the states that Options.Results.Collect
	// takes, of those that a search scored in full, or if Exact of all that fit. Of CollectVisited it
	// counts different tokens. From 131,072 on it is then an estimate, off by about 0.3 %.
	Distinct int
	// LeftOut is how many of these there was no room for where Options.Results.Top asks for all: those
	// beyond the best MaxKept that CollectVisited took. It is 0 otherwise.
	LeftOut int
	// OriginalScore is the score of Options.Words.Original in the blanks: the sum of what the model
	// says of their pieces, in nats. It is known if Options.Words.Filter.MaxDrop is set, and otherwise
	// nil.
	OriginalScore *float64
	// Acceptance is the share of accepted proposals among those after the burn-in that were another
	// state, in [0,1]; NaN without any. MoveShare is the share of these among all steps after the
	// burn-in; NaN without a step.
	MoveShare  float64
	Acceptance float64
	Stats      samplers.Stats // counts summed over chains and all steps
	Steps      int            // steps that every chain made
	// Rows is the number of sequences that the sampler asked the model about, see BudgetRows, that a
	// search asked about, each once, or if Exact of those that all states take. Those of the start
	// and of the ranking are not among them.
	Rows int
	// Repeated are those of Rows that the sampler had asked about before, in any chain, and that
	// a memo can thus answer: rows with the same token masked in the same text, or rows of a
	// gradient at the same state. It does not depend on what the memo holds. From 131,072
	// different rows on it is an estimate, off by about 0.3 % of Rows.
	Repeated int
	// Fresh are those of Rows that the model evaluated: at most Rows. Evaluated are all that it
	// evaluated for this call, those of the start and of the ranking among them: at least Fresh.
	// Both depend on what the engine's memo holds and, without one, count what chains ask for at
	// the same time for each, although the model evaluates it once. Those of Options.Results.Normalize
	// are left out.
	Fresh, Evaluated int

	Tuned     map[string]float64 // what the sampler adapted, mean over chains
	Window    *[2]int            // bytes of the text that the model saw; nil: all
	Shortlist int                // candidates per blank; 0: all that the blanks allow
	Marginals *Marginals         // probabilities, where Options.Results.Marginals asks for them
	// Normalizers has log Z of every combination of lengths that was sampled, in the order of the
	// lengths, where Options.Results.Normalize asks for it.
	Normalizers []Normalizer
	Warnings    []error // what went on all the same; mlm.ErrNotFinite, ErrUnmixed
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
// Where a template leaves the number of tokens of a blank open, a search looks at MaxLengths
// combinations of them at most, and every chain
// draws it once, uniformly and independently of the others' blanks, and then
// samples the tokens from π given the lengths: the joint distribution is
// uniform over lengths. Fillings of different lengths are then ranked by their score per
// token.
//
// Errors: ErrOption, also for a template or a list of words that was made with the tokenizer of
// another vocabulary, ErrEmptySupport, ErrFiltered, mlm.ErrTooLong, mlm.ErrNotFinite for a term's
// value, too, the sampler's own parameters (samplers.ErrParam), the model's, or the cause of ctx's
// end.
func (e *Engine) Fill(ctx context.Context, t *Template, opt Options) (*Result, error) {
	if err := e.usable(ctx, t, &opt); err != nil {
		return nil, err
	}
	if err := opt.fill(); err != nil {
		return nil, err
	}
	var res *Result
	err := gate.Compute(ctx, e.model, func(ctx context.Context) (err error) {
		res, err = e.run(ctx, &t.in, &opt)
		return err
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// run is Fill with one of the model's places.
func (e *Engine) run(ctx context.Context, t *text.Template, opt *Options) (*Result, error) {
	if p := e.model.Precision(); opt.Results.Normalize && p != mlm.Float32 {
		return nil, fmt.Errorf("%w: log Z would be that of the model in %s, and scores are %s; open it "+
			"in %s", text.ErrOption, p, mlm.Float32, mlm.Float32)
	}
	p, err := e.plan(t, opt)
	if err != nil {
		return nil, err
	}
	if opt.Watch.Chosen != nil {
		if err := opt.Watch.Chosen(p.way()); err != nil {
			return nil, err
		}
	}
	if p.original, err = p.origin(ctx); err != nil {
		return nil, err
	}
	if t := p.only(); t != nil {
		if t, err = p.unrounded(ctx, t); err != nil {
			return nil, err
		}
		res, err := p.exact(ctx, t)
		if err == nil {
			err = p.energies(ctx, res.Fillings)
		}
		if err != nil {
			return nil, err
		}
		res.Evaluated = p.model.Evaluated()
		return res, nil
	}
	if p.opt.Method == MethodSearch {
		return p.search(ctx)
	}
	if err := opt.checkMarginals(); err != nil {
		return nil, err
	}
	if err := p.start(ctx); err != nil {
		return nil, err
	}
	if err := p.each(ctx, func(ctx context.Context, pt *part) error {
		return p.trace(ctx, pt)
	}); err != nil {
		return nil, err
	}
	steps, err := p.sample(ctx)
	if err != nil {
		return nil, err
	}
	// Ranking the last states does not count as sampling.
	kept, rows, different := p.stats(), p.rows(), p.model.Different()
	fresh := p.model.FreshOf(rows)
	if err := p.each(ctx, func(ctx context.Context, pt *part) error {
		pt.ended = true
		return pt.run.Refresh(ctx)
	}); err != nil {
		return nil, err
	}
	taken, err := p.collected(ctx)
	if err != nil {
		return nil, err
	}
	res, err := p.result(ctx, kept, taken)
	if err != nil {
		return nil, err
	}
	if err := p.energies(ctx, res.Fillings); err != nil {
		return nil, err
	}
	if opt.Results.Marginals {
		p.marginals(res)
	}
	res.Method = MethodSample
	if p.cut {
		res.Ended = EndedStopped
	}
	res.Steps, res.Rows, res.Repeated = steps, rows, max(0, rows-different)
	res.Fresh, res.Evaluated = fresh, p.model.Evaluated()
	if opt.Results.Normalize {
		if err := p.normalize(ctx, res); err != nil {
			return nil, err
		}
	}
	return res, nil
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
		longest := t.Groups[g].Max
		if lists[g] != nil {
			longest = 0
			for _, p := range lists[g] {
				longest = max(longest, len(p.IDs))
			}
		}
		for _, b := range t.Groups[g].Blanks {
			room += max(longest, before[b]) - 1
		}
	}
	limit := e.model.MaxLength()
	if n := len(t.IDs) + room; opt.Long == LongError && limit > 0 && n > limit {
		return nil, &LengthError{Pieces: n, Limit: limit}
	}
	return t.Cut(limit, room)
}
