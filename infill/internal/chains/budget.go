package chains

import (
	"context"

	"infill/infill/request"
)

// spend makes the steps of a run and says how many.
func (p *run) spend(ctx context.Context) (int, error) {
	if p.Opt.Sampling.Budget == request.BudgetSteps {
		err := p.steps(ctx, p.Opt.Sampling.Steps)
		n := p.Opt.Sampling.Steps // that every chain has made
		for _, pt := range p.parts {
			n = min(n, pt.run.Done())
		}
		p.cut = n < p.Opt.Sampling.Steps
		return n, err
	}
	// What all chains together have spent is looked at after every step.
	o := &p.Opt.Sampling
	spent, per := p.evals, o.Chains
	if o.Budget == request.BudgetRows {
		spent, per = p.rows, 0
		for _, pt := range p.parts {
			for _, x := range pt.run.X {
				per += len(pt.tgt.LayoutOf(x, nil).Sentence.Blanks)
			}
		}
	}
	steps, now := 0, spent()
	for steps < request.MaxStretch*o.Steps {
		if p.cut = p.Opt.Stopped(); p.cut {
			break
		}
		err := p.each(ctx, func(ctx context.Context, pt *part) error { return p.advance(ctx, pt) })
		if err != nil {
			return 0, err
		}
		steps++
		last := now
		now = spent()
		// Another step like the last would end at now + (now − last).
		if 2*now+(now-last) >= 2*per*(o.Steps+1) {
			break
		}
	}
	return steps, nil
}

// steps makes n steps of every chain, the parts independently of each other
// until one of them fails.
func (p *run) steps(ctx context.Context, n int) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err := p.each(ctx, func(ctx context.Context, pt *part) error {
		for range n {
			if p.Opt.Stopped() {
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

func (p *run) advance(ctx context.Context, pt *part) error {
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
	if p.Opt.Results.Collect == request.CollectChain && after > 0 && after%p.Opt.Thinning() == 0 {
		for j := range pt.chains {
			pt.taken.take(j, pt.run.Done(), pt.run.X[j], pt.run.U[j])
		}
	}
	return p.trace(ctx, pt)
}
