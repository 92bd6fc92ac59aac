package samplers

import "strings"

// Info describes a sampler.
type Info struct {
	Name  string
	Title string
	Doc   string // one or two sentences
	// Exact says that the sampler leaves π invariant.
	Exact bool
	// Corrected says that an acceptance test decides about every proposal. Acceptance
	// means something only then: the other samplers take every draw.
	Corrected bool
	// Enumerates says that a step evaluates the energies of all values of some
	// coordinates. Where these have many values, restrict their support first.
	Enumerates bool
	Needs      Needs
	Cost       string // per step
	// StepCalls is the number of calls in a step, where it is the same for all steps, see Calls.
	StepCalls int
	Params    []Param

	make func() Sampler
}

// The calls of a step that are counted as in the paper on DLMC, see Calls.
const (
	callsOfGradient  = 1 // ∇U at the state
	callsOfEnergies  = 2 // U at the state and at the proposal
	callsOfGradients = 4 // U and ∇U, or U and the rows, at both
)

// Calls is the number of calls in the counted steps as the paper on DLMC counts them (its section
// 6.1): U and ∇U at a state are a call each, and a step calls for all that it uses, at the state
// too. Stats.Evals counts U and ∇U at a state together as one, and what is known already not at
// all. So the two differ by a factor of 4 for DLMC and DMALA, and of more where many proposals are
// the state itself. Samplers of conditionals, of neighbours and of mini-batches alone have no such
// number of calls a step. Theirs are Stats.Evals. For Gibbs in blocks and for the Hamming ball
// these are what the paper's code counts.
func (i Info) Calls(s Stats) int {
	if i.StepCalls == 0 {
		return s.Evals
	}
	return i.StepCalls * s.Steps
}

// Describer is the ability of a Sampler to say what it is. All samplers of this
// package have it.
type Describer interface {
	Info() Info
}

// InfoOf describes a sampler: by its own Info or, where it has none, with
// nothing but its name. Without a sampler it is the zero Info.
func InfoOf(s Sampler) Info {
	if isNil(s) {
		return Info{}
	}
	if d, ok := s.(Describer); ok {
		return d.Info()
	}
	return Info{Name: s.Name()}
}

// Need is something that a target must give a sampler.
type Need uint8

// What samplers need, and by which interface a target gives it. Coordinate, block,
// ball and neighbours say how many energies a step needs at once: Energy gives
// them, and a NeighbourEnergizer may give them more cheaply.
const (
	NeedEnergies            Need = iota // Target
	NeedGradients                       // Gradienter
	NeedConditionals                    // MaskedConditioner or Conditioner
	NeedRows                            // RowConditioner, or MaskedConditioner or Conditioner
	NeedStochasticGradients             // StochasticGradienter
	NeedCoordinate                      // Target, at all values of a coordinate
	NeedBlock                           // Target, at all values of a block
	NeedBall                            // Target, in a Hamming ball
	NeedNeighbours                      // Target, at all neighbours
	NeedEstimates                       // StochasticGradienter, NeighbourEstimator or RatioEstimator
)

var needText = []string{
	NeedEnergies:            "energies",
	NeedGradients:           "gradients",
	NeedConditionals:        "conditionals",
	NeedRows:                "conditionals of all coordinates",
	NeedStochasticGradients: "stochastic gradients",
	NeedCoordinate:          "energies of all values of a coordinate",
	NeedBlock:               "energies of all values of a block",
	NeedBall:                "energies of a Hamming ball",
	NeedNeighbours:          "energies of all neighbours",
	NeedEstimates:           "stochastic gradients or ratios of neighbours from mini-batches",
}

// String says what is needed in words.
func (n Need) String() string {
	if int(n) < len(needText) {
		return needText[n]
	}
	return "something unknown"
}

// Needs are all things that a target must give a sampler.
type Needs []Need

// String joins the needs with commas.
func (n Needs) String() string {
	words := make([]string, len(n))
	for i, need := range n {
		words[i] = need.String()
	}
	return strings.Join(words, ", ")
}
