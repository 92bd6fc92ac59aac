package samplers

import "context"

// Sampler is a Markov chain Monte Carlo method together with its parameters.
type Sampler interface {
	// Info says what the sampler is. Its Name stands in messages, all else may be left out.
	Info() Info
	// Attach checks the parameters and the target's abilities and returns the
	// transition of the given chains. It evaluates nothing.
	Attach(c *Chains) (Kernel, error)
}

// Kernel advances all chains by one step.
type Kernel interface {
	// Prepare reads what the kernel keeps of the target at the present states, often by
	// Chains.StartEnergies. Start and Run.Retarget call it, with Chains.U NaN. What the kernel adapted
	// stays as it is.
	Prepare(ctx context.Context) error
	// Step moves each chain k from Chains.X[k] to its next state, keeps Chains.U[k] (NaN for a state
	// that was not evaluated) and Chains.Grad[k], and says in Chains.Last[k] what it did.
	Step(ctx context.Context) error
}

// tuned is a Kernel that adapts something.
type tuned interface {
	Tuning(k int) map[string]float64 // see Run.Tuning
}
