package request

import "infill/internal/nearest"

// Method says how fillings are found.
type Method int

const (
	// MethodAuto is MethodSample if an option is set that only sampling has: one of
	// SamplingOptions but Temperature, or Collect, Thin or Trace.
	// It is MethodExact with a Temperature or Marginals, which ask for probabilities.
	// Otherwise it is MethodSearch.
	MethodAuto Method = iota
	// MethodExact computes all fillings of a single blank, with their probabilities, and samples
	// other templates. See maxExactRows.
	MethodExact
	// MethodSearch looks for the fillings with the best scores. No seed takes part. A single blank is
	// computed as with MethodExact.
	MethodSearch
	// MethodSample runs chains of states for every template.
	MethodSample
)

// Names lists the words for the values of Method, in their order.
func (Method) Names() []string { return []string{"auto", "exact", "search", "sample"} }

// String returns the word of Names.
func (m Method) String() string { return nearest.Of(m.Names(), "method", m) }

// Effort says how much a search looks at.
type Effort int

const (
	EffortNormal   Effort = iota // as much as most texts need
	EffortQuick                  // about two thirds of that
	EffortThorough               // several times as much
)

// Names lists the words for the values of Effort, in their order.
func (Effort) Names() []string { return []string{"normal", "quick", "thorough"} }

// String returns the word of Names.
func (e Effort) String() string { return nearest.Of(e.Names(), "effort", e) }

// Ending says why a search or the steps of chains ended.
type Ending int

const (
	EndedItself  Ending = iota // no guess came near the best fillings any more, or all steps were made
	EndedRows                  // Options.Search.Rows were evaluated
	EndedStopped               // Options.Watch.Stop was closed
)

// String returns a word for the ending.
func (e Ending) String() string { return [...]string{"itself", "rows", "stopped"}[e] }

// A Budget is the unit of SamplingOptions.Steps.
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
	// An evaluation is a state whose U, or U and ∇U, a sampler asks for, or one masked conditional.
	// Samplers that evaluate less than a state a step (a proposal that is the state itself needs
	// none) thus make more steps, and others fewer. All chains make the same number of steps, at
	// least one and at most 20·Steps: the number after which the evaluations made are nearest to
	// the budget, taking the next step to cost as much as the last one. The budget is one for all
	// chains because a chain that was stopped by its own count would always be stopped after a
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
func (Collect) Names() []string { return []string{"visited", "last", "chain"} }

// String returns the word of Names.
func (c Collect) String() string { return nearest.Of(c.Names(), "collect", c) }

// MaxKept bounds the states that CollectChain takes of all chains together, and the states that
// CollectVisited keeps where all fillings are asked for.
const MaxKept = 1 << 20

// keptOfChain is about how many states of a chain CollectChain takes if Options.Results.Thin is 0.
const keptOfChain = 25

// Start says where chains begin.
type Start int

const (
	// StartMasked draws every blank by itself from its distribution with all blanks masked.
	StartMasked Start = iota
	// StartArgmax takes the likeliest token of every blank, all blanks masked, for all chains: the
	// protocol of DISCS (Goshvadi and others, NeurIPS 2023). Where constraints forbid these together
	// it is the first state that they allow, the likeliest tokens of the first blanks first.
	StartArgmax
	// StartOriginal takes the words that stood in the blanks, Options.Words.Original.
	StartOriginal
	// StartRandom draws uniformly from all states that the constraints allow. Where fewer than one
	// state in ten thousand is allowed, it fills blank after blank at random and goes back where
	// nothing fits, which is not uniform.
	StartRandom
)

// Names lists the words for the values of Start, in their order.
func (Start) Names() []string { return []string{"masked", "argmax", "original", "random"} }

// String returns the word.
func (s Start) String() string { return nearest.Of(s.Names(), "start", s) }
