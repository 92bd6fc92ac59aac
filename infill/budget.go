package infill

import "context"

// A Budget says what SamplingOptions.Steps measures.
type Budget int

const (
	// BudgetSteps makes every chain do Steps steps, whatever they cost.
	BudgetSteps Budget = iota
	// BudgetEvaluations gives the chains of a sentence together as many
	// evaluations of the target as Steps steps take that evaluate one state
	// each, the evaluation of the start included:
	//
	//	evaluations ≈ chains · (Steps + 1)
	//
	// An evaluation is a state whose U, or U and ∇U, a sampler asks for, or one
	// masked conditional. Samplers that evaluate less than a state a step (a
	// proposal that is the state itself needs none) thus make more steps,
	// those that evaluate more make fewer. All chains make the same number of
	// steps, at least one and at most 20·Steps: the number after which
	// the evaluations made are nearest to the budget, taking the next step to
	// cost what the last one did. The budget is one for all chains because a
	// chain that was stopped by its own count would always be stopped after a
	// proposal that moved, which favours states that are easily left.
	BudgetEvaluations
	// BudgetRows is the same with rows, the sequences that the model is asked
	// about, instead of evaluations: U of a state takes one row for every token
	// in the blanks, a masked conditional one for every token that the
	// coordinate decides. Rows that are asked for again, or by several
	// chains, are counted each time, though the model computes them once: Result.Repeated.
	BudgetRows
)

// Names lists the words for the values of Budget, in their order.
func (Budget) Names() []string { return []string{"steps", "evaluations", "rows"} }

// maxStretch bounds the steps of a run that is ended by a budget, as a multiple
// of Options.Sampling.Steps: where proposals hardly ever move, or where there is one
// state only, evaluations do not add up.
const maxStretch = 20

// sample makes the steps of a run and says how many.
func (p *plan) sample(ctx context.Context) (int, error) {
	if p.opt.Sampling.Budget == BudgetSteps {
		err := p.steps(ctx, p.opt.Sampling.Steps)
		n := p.opt.Sampling.Steps // that every chain has made
		for _, pt := range p.parts {
			n = min(n, pt.run.Done())
		}
		p.cut = n < p.opt.Sampling.Steps
		return n, err
	}
	// What all chains together have spent is looked at after every step.
	o := &p.opt.Sampling
	spent, per := p.evals, o.Chains
	if o.Budget == BudgetRows {
		spent, per = p.rows, 0
		for _, pt := range p.parts {
			for _, x := range pt.run.X {
				per += len(pt.tgt.LayoutOf(x, nil).Sentence.Blanks)
			}
		}
	}
	steps, now := 0, spent()
	for steps < maxStretch*o.Steps {
		if p.cut = p.opt.stopped(); p.cut {
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
func (p *plan) evals() int {
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
func (p *plan) rows() int {
	n := 0
	for _, pt := range p.parts {
		n += pt.tgt.rows
	}
	return n
}
