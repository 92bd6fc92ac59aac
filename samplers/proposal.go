package samplers

import (
	"context"
	"math/rand/v2"
)

// Proposal draws the next state of a Metropolis–Hastings sampler and knows the
// probability of its draws. NewMH makes a kernel of it. One Proposal serves all
// chains of a run: what it keeps from one call to the next, it keeps per chain k.
//
// A Proposal may have further abilities: Adapter, Starter, Scheduler, Asker,
// Counter, Keeper, Restarter and Tuned.
type Proposal interface {
	// Propose writes a proposal to y, which holds a copy of x, and returns
	// log q(x→y). x is the current state of chain k and grad the gradient there,
	// nil unless the kernel was made with gradients. y must be in the domain. A
	// result that is not finite means that nothing can be drawn: the chain stays,
	// and Stats.NonFinite counts it. A term that Reverse has too may be left out
	// of both.
	Propose(k int, x []int32, grad []float64, rng *rand.Rand, y []int32) float64
	// Reverse returns log q(y→x) for the proposal that Propose made last for
	// chain k, with the gradient at y. −∞ rejects the proposal. NaN and +∞ reject
	// it too, and Stats.NonFinite counts them.
	Reverse(k int, x, y []int32, grad []float64) float64
}

// Adapter is the ability of a Proposal to learn from the burn-in.
type Adapter interface {
	// Adapt is called after every step of the burn-in with what it did.
	Adapt(k int, m Move)
	// Freeze is called once for each chain when the burn-in is over: after its
	// last step or, without a burn-in, before the first step. From then on the
	// proposal must not change.
	Freeze(k int)
}

// Starter is the ability of a Proposal to choose a scale from a chain's start.
type Starter interface {
	// Start is called once for each chain, before the first step. grad is the
	// gradient at x, nil without gradients.
	Start(k int, x []int32, grad []float64)
}

// Scheduler is the ability of a Proposal to set its scale before each step.
type Scheduler interface {
	// Schedule is called before every Propose with the number of steps made. A
	// step that is untested takes its proposal without the acceptance test, if it is one of
	// the burn-in or MHOptions.UntestedAnytime is set.
	Schedule(k, done int) (untested bool)
}

// Asker is the ability of a Proposal to ask the target, for all chains in one
// call, what the proposals of a step need.
type Asker interface {
	// Ask is called once before the proposals of a step.
	Ask(ctx context.Context) error
}

// Counter is the ability of a Proposal to count changes without comparing all
// coordinates.
type Counter interface {
	// Changed is the number of coordinates in which x and the proposal y differ.
	Changed(k int, x, y []int32) int
}

// Keeper is the ability of a Proposal to keep what Reverse found at y for
// proposals from there.
type Keeper interface {
	// Accepted is called when chain k moves to its proposal.
	Accepted(k int)
}
