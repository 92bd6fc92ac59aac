package infill

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"

	"infill/samplers"
)

// A plan is the work on one template: its chains, divided into parts by the
// lengths of their blanks, and making their steps together.
type plan struct {
	e     *Engine
	t     *Template // as the model sees it
	opt   *Options
	open  bool // some lengths are drawn
	parts []*part
}

// A part are the chains that have the same lengths.
type part struct {
	tgt    *target
	id     string // names the random streams
	chains []int  // numbers of its chains
	run    *samplers.Run
	burnt  samplers.Stats
}

func (e *Engine) plan(t *Template, opt *Options) (*plan, error) {
	lists, err := e.lists(t, opt)
	if err != nil {
		return nil, err
	}
	cut, err := e.fit(t, lists, opt.Long)
	if err != nil {
		return nil, err
	}
	p := &plan{e: e, t: cut, opt: opt}
	counts := make([][]int, opt.Chains) // tokens of each group, by chain
	for k := range counts {
		counts[k] = make([]int, len(t.groups))
	}
	for g := range t.groups {
		gr := &t.groups[g]
		n := gr.Max - gr.Min + 1
		if lists[g] != nil || n == 1 {
			for k := range counts {
				counts[k][g] = gr.Min
			}
			continue
		}
		// Every chain's length is uniform, and any n chains in a row have
		// all n lengths: the draws are stratified.
		p.open = true
		rng := samplers.NewStream(opt.Seed, opt.ID+"\x00length", g)
		var perm []int
		for k := range counts {
			if k%n == 0 {
				perm = rng.Perm(n)
			}
			counts[k][g] = gr.Min + perm[k%n]
		}
	}
	byCounts := map[string]*part{}
	for k, c := range counts {
		key := strings.Trim(strings.ReplaceAll(fmt.Sprint(c), " ", ","), "[]")
		pt := byCounts[key]
		if pt == nil {
			sp, err := newSpace(e.supports, cut, lists, c, opt)
			if err != nil {
				return nil, err
			}
			pt = &part{tgt: newTarget(e.model, sp, opt), id: opt.ID}
			if p.open {
				pt.id += "\x00*" + key
			}
			byCounts[key] = pt
			p.parts = append(p.parts, pt)
		}
		pt.chains = append(pt.chains, k)
	}
	return p, nil
}

// each calls f for all parts at the same time, so that they share batches.
func (p *plan) each(f func(*part) error) error {
	if len(p.parts) == 1 {
		return f(p.parts[0])
	}
	errs := make([]error, len(p.parts))
	var wg sync.WaitGroup
	for i, pt := range p.parts {
		wg.Go(func() { errs[i] = f(pt) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) start(ctx context.Context) error {
	return p.each(func(pt *part) error {
		if n := p.opt.shortlist(); n > 0 {
			if err := pt.tgt.restrict(ctx, n); err != nil {
				return err
			}
		}
		x0, err := pt.tgt.start(ctx, p.opt.Seed, pt.id, len(pt.chains))
		if err != nil {
			return err
		}
		sampler := p.opt.Sampler
		if pt.tgt.domain.MaxK() == 1 {
			// There is one state, which some samplers refuse to work on; any
			// that does not leaves it as it is.
			sampler = &samplers.DMALA{}
		}
		pt.run, err = samplers.Start(ctx, sampler, pt.tgt, x0, samplers.Options{Seed: p.opt.Seed, ID: pt.id, Burnin: p.opt.Steps / 2})
		return err
	})
}

func (p *plan) step(ctx context.Context) error {
	return p.each(func(pt *part) error {
		if err := pt.run.Step(ctx); err != nil {
			return err
		}
		if pt.run.Done() == pt.run.Burnin {
			pt.burnt = sumStats(pt.run.Stats)
			pt.run.ResetStats()
		}
		return nil
	})
}

// stats sums the counts of all chains since the burn-in.
func (p *plan) stats() samplers.Stats {
	var s samplers.Stats
	for _, pt := range p.parts {
		s.Add(sumStats(pt.run.Stats))
	}
	return s
}

// trace tells Options.Trace of the step that was made, chains in their order.
func (p *plan) trace(ctx context.Context, step int) error {
	if p.opt.Trace == nil {
		return nil
	}
	s := Step{Step: step, Evals: p.evals(), Energy: make([]float64, p.opt.Chains)}
	if step > 0 {
		s.Accepted = make([]bool, p.opt.Chains)
	}
	type place struct {
		pt *part
		k  int
	}
	where := make([]place, p.opt.Chains)
	for _, pt := range p.parts {
		u := append([]float64(nil), pt.run.U...)
		if p.opt.TraceEnergies {
			if err := pt.tgt.complete(ctx, pt.run.X, u); err != nil {
				return err
			}
		}
		for j, k := range pt.chains {
			where[k] = place{pt, j}
			s.Energy[k] = u[j] * pt.tgt.temp
			if step > 0 {
				s.Accepted[k] = pt.run.Last[j].Accepted
			}
		}
	}
	s.Tokens = func(k int) []int32 {
		x := where[k].pt.run.X[where[k].k]
		tgt := where[k].pt.tgt
		return tgt.tokens(nil, tgt.layoutOf(x, nil), x, -1, -1)
	}
	return p.opt.Trace(s)
}

// complete evaluates the energies that are NaN.
func (t *target) complete(ctx context.Context, x [][]int32, u []float64) error {
	var at []int
	var states [][]int32
	for k := range u {
		if math.IsNaN(u[k]) {
			at, states = append(at, k), append(states, x[k])
		}
	}
	if len(at) == 0 {
		return nil
	}
	found := make([]float64, len(at))
	if err := t.energy(ctx, states, found); err != nil {
		return err
	}
	for i, k := range at {
		u[k] = found[i]
	}
	return nil
}

func sumStats(all []samplers.Stats) samplers.Stats {
	var s samplers.Stats
	for _, c := range all {
		s.Add(c)
	}
	return s
}
