package samplers

// DMALA is the discrete Metropolis-adjusted Langevin algorithm (DLP,
// algorithm 1): DULA's parallel proposal
//
//	q_i(v) ∝ exp(½Δ_i(v) − ‖v − θ_i‖²/(2α))
//
// accepted with probability min(1, π(θ')q(θ'→θ)/(π(θ)q(θ→θ'))). On nominal coordinates an automatic
// α follows the gradient at the states that the burn-in visits.
type DMALA struct {
	StepSize float64 // α, in squared units of the domain
	Balance  Balance // replaces exp(½Δ) by g(exp(Δ))
	// Precondition holds one positive factor per coordinate: the penalty becomes
	// ‖v − θ_i‖²/(2α·Precondition[i]) (DLP, section 6; its appendix H derives the square). nil for 1.
	Precondition     []float64
	TargetAcceptance float64
}

func (s *DMALA) Attach(c *Chains) (Kernel, error) {
	d, err := newDLP(c, dmalaInfo.Name, s.StepSize, s.Balance, s.Precondition, s.TargetAcceptance)
	if err != nil {
		return nil, err
	}
	return newDLPKernel(c, d, MHOptions{})
}

func (s *DMALA) Info() Info { return dmalaInfo }

var dmalaInfo = Info{
	Name: "dmala", Title: "Discrete Metropolis-adjusted Langevin",
	Exact: true, Corrected: true,
	Doc: "moves all coordinates at once along the gradient, with a " +
		"Metropolis–Hastings correction (DLP 2022)",
	Needs: []Need{NeedGradients}, Cost: "1 energy and gradient",
	Params: []Param{
		stepParam(func(s Sampler, v float64) { s.(*DMALA).StepSize = v }),
		balanceParam(func(s Sampler, v Balance) { s.(*DMALA).Balance = v }),
		acceptParam(usualAcceptance, func(s Sampler, v float64) { s.(*DMALA).TargetAcceptance = v }),
	},
}
