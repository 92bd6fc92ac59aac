package chains

import (
	"cmp"
	"context"
	"math"
	"slices"

	"infill/infill/internal/choosing"
	"infill/infill/request"
	"infill/samplers"
)

// Run samples chains of fillings.
func Run(ctx context.Context, c *choosing.Chooser) (*request.Result, error) {
	p := &run{Chooser: c}
	if err := p.Opt.CheckMarginals(); err != nil {
		return nil, err
	}
	if err := p.start(ctx); err != nil {
		return nil, err
	}
	if err := p.each(ctx, p.trace); err != nil {
		return nil, err
	}
	steps, err := p.spend(ctx)
	if err != nil {
		return nil, err
	}
	// Ranking the last states does not count as sampling.
	var kept samplers.Stats // the counts of all chains since the burn-in
	for _, pt := range p.parts {
		kept.Add(sumStats(pt.run.Stats))
	}
	rows, different := p.rows(), p.Asked.Different()
	fresh := p.Asked.FreshOf(rows)
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
	if p.Opt.Results.Marginals {
		p.marginals(res)
	}
	res.Method = request.MethodSample
	if p.cut {
		res.Ended = request.EndedStopped
	}
	res.Steps, res.Rows, res.Repeated = steps, rows, max(0, rows-different)
	res.Fresh = fresh
	return res, nil
}

// result ranks the states that were taken. Equal energies keep their order, so that the ranking is
// a function of the run.
func (p *run) result(ctx context.Context, kept samplers.Stats, taken []*sighting) (*request.Result,
	error) {
	res := p.NewResult()
	res.MoveShare, res.Acceptance, res.Stats = kept.MoveShare(), kept.Acceptance(), kept
	res.Shortlist = p.Opt.Sampling.Shortlist
	for _, pt := range p.parts {
		res.Stats.Add(pt.burnt)
	}
	at, states := map[string]int{}, map[string]choosing.Placed{}
	var first []*sighting // of each filling
	for _, s := range taken {
		f := s.tgt.Spell(s.x, p.Opt.Results.AsModel)
		if i, ok := at[f.Text]; ok {
			first[i].join(s)
			continue
		}
		at[f.Text] = len(first)
		f.Parts.PLL, f.Parts.Length = s.score, s.tgt.LengthPart(f.Lengths) // less the terms, see energies
		f.Score = s.score + f.Parts.Length
		f.ScorePerToken = f.Score / float64(len(f.IDs))
		first = append(first, s)
		states[f.Text] = choosing.Placed{Target: s.tgt, State: s.x}
		res.Fillings = append(res.Fillings, f)
	}
	for i, s := range first {
		f := &res.Fillings[i]
		f.Chain, f.Step, f.Count = s.chain, s.step, s.count
		if p.Opt.Results.Collect == request.CollectVisited {
			f.Count = s.seenBy()
		}
	}
	res.Distinct = len(res.Fillings)
	if p.Opt.Results.Collect == request.CollectVisited {
		res.Distinct = max(res.Distinct, p.seen.Total())
	}
	res.LeftOut = p.leftOut(len(taken))
	res.Method = request.MethodSample
	res.Tuned = p.tuning()
	var err error
	if res.Fillings, err = p.Sieve.Pass(ctx, res.Fillings); err != nil {
		return nil, err
	}
	once := slices.DeleteFunc(slices.Clone(res.Fillings), func(f request.Filling) bool {
		return p.Twice(&f)
	})
	if len(once) > 0 {
		res.Fillings = once
	} else if len(res.Fillings) > 0 && p.Twice(&res.Fillings[0]) {
		choosing.WarnTwice(res)
	}
	return res, p.Finish(ctx, res, states, false, res.Stats.NonFinite, "proposals or neighbours")
}

// leftOut is how many states there was no room for, although all are asked for. kept is how many
// there was room for.
func (p *run) leftOut(kept int) int {
	if o := &p.Opt.Results; o.Collect != request.CollectVisited || !o.All || kept < roomOf(p.Opt) {
		return 0
	}
	return max(0, p.seen.Total()-kept)
}

// collected returns the states that were taken, without repetitions, in an order that is a function
// of the run. Energies that are not known are evaluated.
func (p *run) collected(ctx context.Context) ([]*sighting, error) {
	all := map[string]*sighting{}
	var out []*sighting
	for _, pt := range p.parts {
		for _, s := range pt.taken.byKey {
			if o := all[s.key]; o != nil {
				o.join(s)
				continue
			}
			all[s.key] = s
			out = append(out, s)
		}
	}
	if len(out) == 0 { // nothing evaluates energies, or no step came after the burn-in
		return p.last(), nil
	}
	if p.Opt.Results.Collect == request.CollectVisited {
		slices.SortFunc(out, compareSightings)
		return out[:min(len(out), roomOf(p.Opt))], nil
	}
	slices.SortFunc(out, func(a, b *sighting) int {
		return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(a.chain, b.chain))
	})
	return out, p.evaluate(ctx, out)
}

// evaluate finds the energies of sightings that are not known.
func (p *run) evaluate(ctx context.Context, all []*sighting) error {
	return p.each(ctx, func(ctx context.Context, pt *part) error {
		var some []*sighting
		var x [][]int32
		for _, s := range all {
			if s.tgt == pt.tgt && math.IsNaN(s.score) {
				some, x = append(some, s), append(x, s.x)
			}
		}
		u := slices.Repeat([]float64{math.NaN()}, len(x))
		if err := complete(ctx, pt.tgt, x, u); err != nil {
			return err
		}
		for i, s := range some {
			s.score = u[i] * pt.tgt.Temp
		}
		return nil
	})
}

// last are the last states of all chains, in the order of the chains.
func (p *run) last() []*sighting {
	out := make([]*sighting, p.Opt.Sampling.Chains)
	for _, pt := range p.parts {
		for j, k := range pt.chains {
			out[k] = &sighting{tgt: pt.tgt, x: pt.run.X[j], score: pt.run.U[j] * pt.tgt.Temp,
				step: pt.run.Done(), chain: k, count: 1, chains: make([]uint64, (p.Opt.Sampling.Chains+63)/64)}
			out[k].chains[k/64] |= 1 << (k % 64)
		}
	}
	return out
}

// tuning is what the sampler adapted, mean over all chains.
func (p *run) tuning() map[string]float64 {
	var mean map[string]float64
	for _, pt := range p.parts {
		for k := range pt.run.X {
			for name, v := range pt.run.Tuning(k) {
				if mean == nil {
					mean = map[string]float64{}
				}
				mean[name] += v
			}
		}
	}
	for name, sum := range mean {
		if n := float64(p.Opt.Sampling.Chains); math.IsInf(sum, 0) {
			mean[name] = p.tuned(name, n) // what is finite has a finite mean
		} else {
			mean[name] /= n
		}
	}
	return mean
}

// tuned is the mean of a value over n chains, whose sum overflows.
func (p *run) tuned(name string, n float64) float64 {
	mean := 0.0
	for _, pt := range p.parts {
		for k := range pt.run.X {
			mean += pt.run.Tuning(k)[name] / n
		}
	}
	return mean
}
