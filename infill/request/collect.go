package request

import "slices"

// Collect says which of the states that chains come to are fillings.
type Collect int

const (
	// CollectVisited takes every state whose energy a sampler evaluated, from the start on: also
	// proposals that were refused, and neighbours that were only looked at. No call of the model is
	// made for them. Of samplers that evaluate no energies (gibbs, sgdld, and dula in
	// batches) only the last states are known, and are taken. The best 1024 + 2·Top are kept, or
	// maxKept of all fillings.
	// They are a search for good fillings and not draws of π.
	CollectVisited Collect = iota
	// CollectLast takes the last state of every chain: with enough steps independent draws of π.
	CollectLast
	// CollectChain takes states along every chain after the burn-in, one in Options.Results.Thin
	// steps: with enough steps draws of π, the nearer in time the more alike. A run that is stopped
	// before has the last states instead.
	CollectChain
)

// Names lists the words for the values of Collect, in their order.
func (Collect) Names() []string { return slices.Clone(collectNames) }

var collectNames = []string{"visited", "last", "chain"}

// String returns the word of Names.
func (c Collect) String() string { return nameOf(collectNames, "collect", c) }

// MaxKept bounds the states that CollectChain takes of all chains together, and those that
// CollectVisited keeps where all fillings are asked for.
const MaxKept = 1 << 20

// keptOfChain is about how many states of a chain CollectChain takes if Options.Results.Thin is 0.
const keptOfChain = 25
