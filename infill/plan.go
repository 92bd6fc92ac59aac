package infill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"infill/infill/internal/recall"
	"infill/infill/text"
	"infill/internal/gate"
	"infill/mlm"
	"infill/samplers"
)

// A plan is the work on one template: its chains, divided into parts by the
// lengths of their blanks, and making their steps together.
type plan struct {
	e     *Engine
	whole *text.Template
	t     *text.Template // as the model sees it
	opt   *Options
	model *recall.Recall
	gaps  []int // groups whose lengths are open
	// lengths is the number of different lengths that the groups of blanks can have together.
	lengths int
	shares  [][]float64 // log P of each length of a gap, from the shortest, in nats; see readGaps
	gapRows int         // rows that this took
	// lengthsFrom is Result.Lengths
	lengthsFrom string
	perToken    bool // fillings are ranked by their score per token
	parts       []*part
	tr          tracer
	seen        *recall.Tally // different states that were taken
	cut         bool          // Options.Watch.Stop kept the chains from steps

	sieve *sieve // of fillings by the text before words were masked; nil: it is not known
}

// A part are chains that have the same lengths and make their steps together.
type part struct {
	tgt     *target
	id      string  // names the random streams
	logP    float64 // of a search: how likely its lengths are, in nats
	first   int     // number of its first chain among those of the same lengths
	chains  []int   // numbers of its chains
	x0      [][]int32
	sampler samplers.Sampler
	run     *samplers.Run
	burnt   samplers.Stats
	record  *record // of the states after the burn-in; nil: none is kept
	taken   *collector
	ended   bool // no step follows
}

func (e *Engine) plan(ctx context.Context, t *text.Template, opt *Options) (*plan, error) {
	lists, err := e.supports.Lists(t, opt.rules())
	if err != nil {
		return nil, err
	}
	cut, err := e.fit(t, lists, opt)
	if err != nil {
		return nil, err
	}
	p := &plan{e: e, whole: t, t: cut, opt: opt, lengths: 1,
		model: recall.New(e.model, e.memo)}
	more := e.newExtra(opt)
	if err := p.readGaps(ctx, lists); err != nil {
		return nil, err
	}
	byCounts := map[string]*part{}
	var impossible error
	for k, of := range p.choices() {
		c := of.counts
		key := strings.Trim(strings.ReplaceAll(fmt.Sprint(c), " ", ","), "[]")
		pt := byCounts[key]
		if pt == nil {
			sp, err := e.supports.Space(cut, lists, c, opt.rules())
			if errors.Is(err, text.ErrEmptySupport) && opt.Method == MethodSearch {
				impossible = cmp.Or(impossible, err)
				continue // other lengths may have fillings
			}
			if err != nil {
				return nil, err
			}
			pt = &part{tgt: newTarget(p.model, sp, opt, more), id: opt.ID, logP: of.logP}
			pt.tgt.limit, pt.tgt.length = e.model.MaxLength(), p.lengthPart(c)
			if len(p.gaps) > 0 {
				pt.id += "\x00*" + key
			}
			byCounts[key] = pt
			p.parts = append(p.parts, pt)
		}
		pt.chains = append(pt.chains, k)
	}
	if len(p.parts) == 0 {
		return nil, impossible
	}
	return p, nil
}

// each calls f for all parts at the same time, so that they share batches and one draws
// its proposals while another's are being evaluated.
func (p *plan) each(ctx context.Context, f func(context.Context, *part) error) error {
	return gate.Each(ctx, len(p.parts), func(ctx context.Context, i int) error {
		return f(ctx, p.parts[i])
	})
}

func (p *plan) start(ctx context.Context) error {
	if err := p.honest(); err != nil {
		return err
	}
	err := p.each(ctx, func(ctx context.Context, pt *part) (err error) {
		if n := p.opt.Sampling.Shortlist; n > 0 {
			if err := pt.tgt.restrict(ctx, n); err != nil {
				return err
			}
		}
		pt.x0, err = pt.tgt.starts(ctx, p.opt, pt.id, len(pt.chains))
		return err
	})
	if err != nil {
		return err
	}
	p.divide()
	p.seen = new(recall.Tally)
	for _, pt := range p.parts {
		pt.taken = p.newCollector(pt)
		pt.sampler = p.opt.Sampling.Sampler
	}
	return p.each(ctx, func(ctx context.Context, pt *part) (err error) {
		sampler := pt.sampler
		if pt.tgt.Product.Size() == 1 {
			// There is one state, which some samplers refuse to work on; any
			// that does not leaves it as it is.
			sampler = &samplers.DMALA{}
			if !p.e.model.Info().Gradients {
				pt.tgt.mode = mlm.Forward
			}
		}
		opt := samplers.Options{Seed: p.opt.Seed, ID: pt.id, First: pt.first, Burnin: p.opt.Burnin()}
		if p.opt.Results.Collect == CollectVisited {
			opt.Evaluated = pt.taken.evaluated
		}
		pt.run, err = samplers.Start(ctx, sampler, pt.tgt, pt.x0, opt)
		return pt.tgt.extra.blame(err)
	})
}

const (
	// partTokens is about how many tokens (chains × masks × pieces) a part has
	// at least: less would make batches of the model that are not worth a call.
	partTokens = 256
	// maxParts bounds how many parts chains of the same lengths are divided
	// into. It is one for each of the model's threads, which then draws and
	// evaluates in turns: with more parts the calls are smaller, and each reads
	// the table of words from memory.
	maxParts = 4
	// partStates is how many states there must be for every chain. With fewer
	// than that, chains meet, and a state is evaluated once only for the chains
	// of a part.
	partStates = 1000
)

// divide splits the chains of a part into several that go on independently.
// Chains know nothing of each other, so that this changes no result.
func (p *plan) divide() {
	var out []*part
	for _, pt := range p.parts {
		n := len(pt.chains)
		sentence := pt.tgt.LayoutOf(pt.x0[0], nil).Sentence
		k := min(n, p.e.model.Threads(), maxParts, max(1,
			n*len(sentence.Blanks)*len(sentence.IDs)/partTokens))
		states := 1.0
		for i := range pt.tgt.Coords {
			states *= float64(pt.tgt.Coords[i].K())
		}
		if states < partStates*float64(n) {
			k = 1
		}
		for i := range k {
			from, to := i*n/k, (i+1)*n/k
			q := *pt
			q.first, q.chains, q.x0 = from, pt.chains[from:to], pt.x0[from:to]
			if i > 0 {
				q.tgt = pt.tgt.with(pt.tgt.model)
				q.tgt.Space = pt.tgt.Another() // for use at the same time
			}
			if p.opt.Results.Marginals {
				q.record = newRecord(len(q.chains), p.opt.Sampling.Chains, len(q.tgt.Coords))
			}
			out = append(out, &q)
		}
	}
	p.parts = out
}

// steps makes n steps of every chain, the parts independently of each other
// until one of them fails.
func (p *plan) steps(ctx context.Context, n int) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err := p.each(ctx, func(ctx context.Context, pt *part) error {
		for range n {
			if p.opt.stopped() {
				return nil
			}
			if err := p.advance(ctx, pt); err != nil {
				stop(err)
				return err
			}
		}
		return nil
	})
	if err != nil {
		return context.Cause(ctx) // the first failure
	}
	return nil
}

func (p *plan) advance(ctx context.Context, pt *part) error {
	if err := pt.run.Step(ctx); err != nil {
		return err
	}
	if pt.run.Done() == pt.run.Burnin {
		pt.burnt = sumStats(pt.run.Stats)
		pt.run.ResetStats()
	}
	after := pt.run.Done() - pt.run.Burnin
	if pt.record != nil && after > 0 {
		pt.record.add(pt.run.X, pt.run.U)
	}
	if p.opt.Results.Collect == CollectChain && after > 0 && after%p.opt.Thinning() == 0 {
		for j := range pt.chains {
			pt.taken.take(j, pt.run.Done(), pt.run.X[j], pt.run.U[j])
		}
	}
	return p.trace(ctx, pt)
}

func sumStats(all []samplers.Stats) samplers.Stats {
	var s samplers.Stats
	for _, c := range all {
		s.Add(c)
	}
	return s
}
