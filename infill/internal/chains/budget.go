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
