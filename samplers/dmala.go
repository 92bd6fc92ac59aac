package samplers

// DMALA is the discrete Metropolis-adjusted Langevin algorithm (DLP,
// algorithm 1): DULA's parallel proposal
//
//	q_i(v) ∝ exp(½Δ_i(v) − ‖v − θ_i‖²/(2α))
//
// accepted with probability min(1, π(θ')q(θ'→θ)/(π(θ)q(θ→θ'))). Exact.
// Cost: one evaluation of (U, ∇U) a step.
//
// The zero value uses the square-root balancing function and adapts α per
// chain in the burn-in to a mean acceptance probability of 0.574 (Stats.MeanProb). On nominal
// coordinates it begins with the gradient at the chain's start and follows that of
// the states that the burn-in visits.
type DMALA struct {
	// StepSize is α, in squared units of the domain; 0 adapts it. Where K
	// categories are about equally likely, 1/α near ln K keeps a nominal
	// coordinate in place half the time.
	StepSize float64
	// Balance replaces exp(½Δ) by g(exp(Δ)).
	Balance Balance
	// Precondition holds one positive factor per coordinate: the penalty
	// becomes ‖v − θ_i‖²/(2α·Precondition[i]) (DLP, section 6).
	// Its appendix H derives Precondition[i]² in that place. nil for 1.
	Precondition []float64
	// TargetAcceptance is what automatic step sizes aim at; 0 means 0.574.
	TargetAcceptance float64
}

// Name implements Sampler.
func (s *DMALA) Name() string { return "dmala" }

// Attach implements Sampler.
func (s *DMALA) Attach(c *Chains) (Kernel, error) {
	d, err := newDLP(c, s.Name(), s.StepSize, s.Balance, s.Precondition, s.TargetAcceptance)
	if err != nil {
		return nil, err
	}
	return newDLPKernel(c, d, MHOptions{})
}

// Info implements Describer.
func (s *DMALA) Info() Info { return dmalaInfo }

var dmalaInfo = Info{
	Name: "dmala", Title: "Discrete Metropolis-adjusted Langevin",
	Exact: true, Corrected: true,
	Doc: "moves all coordinates at once along the gradient, with a " +
		"Metropolis–Hastings correction (DLP 2022)",
	Needs: Needs{NeedGradients}, Cost: "1 energy and gradient", StepCalls: callsOfGradients,
	Params: []Param{
		stepParam(func(s Sampler, v float64) { s.(*DMALA).StepSize = v }),
		balanceParam(func(s Sampler, v Balance) { s.(*DMALA).Balance = v }),
		preconditionParam(func(s Sampler, v []float64) { s.(*DMALA).Precondition = v }),
		acceptParam(TargetAcceptance, func(s Sampler, v float64) { s.(*DMALA).TargetAcceptance = v }),
	},
	make: func() Sampler { return &DMALA{} },
}
