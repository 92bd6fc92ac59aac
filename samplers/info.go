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
	Params    []Param
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
