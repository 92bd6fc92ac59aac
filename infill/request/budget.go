package request

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

// MaxStretch bounds the steps of a run that is ended by a budget, as a multiple
// of Options.Sampling.Steps: where proposals hardly ever move, or where there is one
// state only, evaluations do not add up.
const MaxStretch = 20
