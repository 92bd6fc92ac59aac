package chains

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"infill/infill/internal/choosing"
	"infill/infill/internal/recall"
	"infill/infill/internal/target"
	"infill/infill/request"
	"infill/internal/gate"
	"infill/mlm"
	"infill/samplers"
)

// A run is one of all chains, divided into parts by the lengths of their blanks.
type run struct {
	*choosing.Chooser
	parts []*part
	tr    tracer
	seen  *recall.Tally // different states that were taken
	cut   bool          // Options.Watch.Stop kept the chains from steps
}

// A part are chains that have the same lengths and make their steps together.
type part struct {
	tgt    *target.Target
	id     string // names the random streams
	first  int    // number of its first chain among those of the same lengths
	chains []int  // numbers of its chains
	x0     [][]int32
	run    *samplers.Run
	burnt  samplers.Stats
	record *record // of the states after the burn-in; nil: none is kept
	taken  *collector
	ended  bool // no step follows
}

// A tracer puts together, for Options.Watch.Trace, what the parts of a run did: they
// make their steps independently, some ahead of others.
type tracer struct {
	mu   sync.Mutex
	open []openStep // that not all parts have made, in order
	next int        // number of open[0]
	err  error      // of Options.Watch.Trace, which is then called no more
}

// An openStep is a step that some parts still have to make.
type openStep struct {
	request.Step
	left   int       // parts
	tokens [][]int32 // by chain
	starts [][]int   // by chain
}

// each calls f for all parts at the same time, so that they share batches and one draws
// its proposals while another's are being evaluated.
func (p *run) each(ctx context.Context, f func(context.Context, *part) error) error {
	return gate.Each(ctx, len(p.parts), func(ctx context.Context, i int) error {
		return f(ctx, p.parts[i])
	})
}

func (p *run) start(ctx context.Context) error {
	if err := p.honest(); err != nil {
		return err
	}
	for _, c := range p.Choices {
		p.parts = append(p.parts, &part{tgt: c.Target, id: c.ID, chains: c.Chains})
	}
	err := p.each(ctx, func(ctx context.Context, pt *part) (err error) {
		if n := p.Opt.Sampling.Shortlist; n > 0 {
			if err := pt.tgt.Restrict(ctx, n); err != nil {
				return err
			}
		}
		cum, logp, err := pt.tgt.Alone(ctx)
		if err == nil {
			pt.x0, err = begin(pt.tgt, p.Opt, pt.id, len(pt.chains), cum, logp)
		}
		return err
	})
	if err != nil {
		return err
	}
	p.divide()
	p.seen = new(recall.Tally)
	for _, pt := range p.parts {
		pt.taken = newCollector(p.Task, pt.tgt, pt.chains, p.seen)
	}
	return p.each(ctx, func(ctx context.Context, pt *part) (err error) {
		sampler := p.Opt.Sampling.Sampler
		if pt.tgt.Product.Size() == 1 {
			// There is one state, which some samplers refuse to work on; any
			// that does not leaves it as it is.
			sampler = &samplers.DMALA{}
			if !p.Base.Info().Gradients {
				pt.tgt.Mode = mlm.Forward
			}
		}
		opt := samplers.Options{Seed: p.Opt.Seed, ID: pt.id, First: pt.first, Burnin: p.Opt.Burnin()}
		if p.Opt.Results.Collect == request.CollectVisited {
			opt.Evaluated = pt.evaluated
		}
		pt.run, err = samplers.Start(ctx, sampler, pt.tgt, pt.x0, opt)
		return pt.tgt.Extra.Blame(err)
	})
}

// evaluated takes a state that the sampler evaluated for chain j of the part. u is tempered.
func (pt *part) evaluated(j int, x []int32, u float64) {
	if math.IsNaN(u) || math.IsInf(u, 0) {
		return
	}
	step := 0
	if pt.run != nil { // the starts are evaluated before there is a run
		step = pt.run.Done()
		if !pt.ended {
			step++
		}
	}
	pt.taken.take(j, step, x, u)
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
func (p *run) divide() {
	var out []*part
	for _, pt := range p.parts {
		n := len(pt.chains)
		sentence := pt.tgt.LayoutOf(pt.x0[0], nil).Sentence
		k := min(n, p.Base.Threads(), maxParts, max(1,
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
				q.tgt = pt.tgt.Twin()
			}
			if p.Opt.Results.Marginals {
				q.record = newRecord(len(q.chains), p.Opt.Sampling.Chains, len(q.tgt.Coords))
			}
			out = append(out, &q)
		}
	}
	p.parts = out
}

func sumStats(all []samplers.Stats) samplers.Stats {
	var s samplers.Stats
	for _, c := range all {
		s.Add(c)
	}
	return s
}

// honest refuses samplers that would leave terms out: those that draw from what the model says
// alone, without an acceptance step or energies to correct it.
func (p *run) honest() error {
	e, info := p.Choices[0].Target.Extra, p.Opt.SamplerInfo()
	if e == nil || len(info.Needs) == 0 || info.Exact ||
		e.Guided && slices.Equal(info.Needs, []samplers.Need{samplers.NeedGradients}) {
		return nil // or it goes by the gradient of the whole energy
	}
	return fmt.Errorf("%w: the sampler %s has no acceptance step, so it would leave out the parts of "+
		"the energy besides the model's; rows, dmala and gibbs-mh keep to them", samplers.ErrUnsupported,
		info.Name)
}

// evals are the evaluations that sampling has made so far, all chains together.
func (p *run) evals() int {
	n := 0
	for _, pt := range p.parts {
		n += pt.evals()
	}
	return n
}

func (pt *part) evals() int {
	n := pt.burnt.Evals
	for k := range pt.run.Stats {
		n += pt.run.Stats[k].Evals
	}
	return n
}

// rows are the sequences that sampling has asked the model about so far.
func (p *run) rows() int {
	n := 0
	for _, pt := range p.parts {
		n += pt.tgt.Asked
	}
	return n
}
