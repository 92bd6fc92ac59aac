package samplers

import "context"

// Sampler is a Markov chain Monte Carlo method together with its parameters.
type Sampler interface {
	// Name is the sampler's name in messages and, for those of this package, the
	// one under which Lookup finds it.
	Name() string
	// Attach checks the parameters and the target's abilities and returns the
	// transition of the given chains. It evaluates nothing.
	Attach(c *Chains) (Kernel, error)
}

// Kernel advances all chains by one step.
//
// It may have further abilities: Preparer, Retargeter and Tuned.
type Kernel interface {
	// Step moves each chain k from Chains.X[k] to its next state, keeps
	// Chains.U[k] (NaN for a state that was not evaluated) and, where gradients
	// are used, Chains.Grad[k], and says in Chains.Last[k] what it did. Run.Step
	// counts the moves.
	Step(ctx context.Context) error
}

// Preparer is the ability of a Kernel to begin the chains in its own way. Start
// calls Prepare once. For a kernel without it Start evaluates the starts, by
// Chains.StartEnergies.
type Preparer interface {
	Prepare(ctx context.Context) error
}

// Tuned is the ability of a Kernel, or of a Proposal, to say what it adapted.
type Tuned interface {
	// Tuning returns the current value of each adapted quantity of chain k,
	// such as "step-size". The values no longer change once the burn-in is over.
	Tuning(k int) map[string]float64
}
