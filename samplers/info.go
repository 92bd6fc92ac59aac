package samplers

// Info describes a sampler.
type Info struct {
	Name      string
	Title     string
	Doc       string // one or two sentences
	Exact     bool   // it leaves π invariant
	Corrected bool   // an acceptance test decides about every proposal; others take every draw
	Needs     []Need // what a target must give; none says that it is not known
	Cost      string // per step
	StepCalls int    // calls in a step, where it is the same for all steps, see Calls
	Params    []Param
}

// The calls of a step that are counted as in the paper on DLMC, see Calls.
const (
	callsOfGradient  = 1 // ∇U at the state
	callsOfGradients = 4 // U and ∇U, or U and the rows, at both
)

// Calls is the number of calls in the counted steps as the paper on DLMC counts them (its section
// 6.1): U and ∇U at a state are a call each, and a step calls for all that it uses, at the state
// too. So a step of DLMC has four. Without StepCalls it is Stats.Evals.
func (i Info) Calls(s Stats) int {
	if i.StepCalls == 0 {
		return s.Evals
	}
	return i.StepCalls * s.Steps
}

// Need is something that a target must give a sampler, by the interface named.
type Need uint8

const (
	NeedEnergies            Need = iota // Target
	NeedGradients                       // Gradienter
	NeedConditionals                    // Conditioner
	NeedRows                            // Conditioner, better a RowConditioner
	needStochasticGradients             // StochasticGradienter
	needEstimates                       // StochasticGradienter or RatioEstimator
)

var needText = []string{
	NeedEnergies:            "energies",
	NeedGradients:           "gradients",
	NeedConditionals:        "conditionals",
	NeedRows:                "conditionals of all coordinates",
	needStochasticGradients: "stochastic gradients",
	needEstimates:           "stochastic gradients or ratios of neighbours from mini-batches",
}

// String says what is needed in words.
func (n Need) String() string {
	if int(n) < len(needText) {
		return needText[n]
	}
	return "something unknown"
}
