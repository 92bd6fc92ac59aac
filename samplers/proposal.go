package samplers

import (
	"context"
	"math/rand/v2"
)

// Proposal draws the next state of a Metropolis–Hastings sampler and knows the
// probability of its draws. NewMH makes a kernel of it. One Proposal serves all
// chains of a run: what it keeps from one call to the next, it keeps per chain k.
type Proposal interface {
	// Propose writes a proposal to y, which holds a copy of x, and returns log q(x→y). x is the
	// current state of chain k and grad the gradient there, or the rows, or nil (MHOptions). A result
	// that is not finite means that nothing can be drawn: the chain stays, and Stats.NonFinite counts
	// it. A term that Reverse has too may be left out of both.
	Propose(k int, x []int32, grad []float64, rng *rand.Rand, y []int32) float64
	// Reverse returns log q(y→x) for the proposal that Propose made last for
	// chain k, with the gradient at y. −∞ rejects the proposal. NaN and +∞ reject
	// it too, and Stats.NonFinite counts them.
	Reverse(k int, x, y []int32, grad []float64) float64
}

// Adapter is a Proposal that learns from the burn-in.
type Adapter interface {
	// Start is called once for each chain, before the first step, with the gradient at x or nil.
	Start(k int, x []int32, grad []float64)
	// Adapt is called after every step of the burn-in with what it did.
	Adapt(k int, m Move)
	// Freeze is called once for each chain when the burn-in is over, or before the first step where
	// there is none. From then on the proposal must not change.
	Freeze(k int)
	// Tuning returns the current value of each adapted quantity of chain k, such as "step-size".
	Tuning(k int) map[string]float64
}

// keeper is a Proposal that keeps something of the present states, such as what Reverse found
// there.
type keeper interface {
	// Enter is called when chain k is at x, with grad there, and nothing of it is known: before
	// Start, and when the target has changed.
	Enter(k int, x []int32, grad []float64)
	// Accepted is called when chain k moves to its proposal.
	Accepted(k int)
}

// scheduler is a Proposal that prepares each step: it sets its scale, or asks the target, for all
// chains in one call, what the proposals of the step need.
type scheduler interface {
	// Schedule is called before the proposals of a step, with the number of steps made. untested has
	// an entry for each chain, false; where it is set to true in the burn-in, the chain takes its
	// proposal without the acceptance test.
	Schedule(ctx context.Context, done int, untested []bool) error
}

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
