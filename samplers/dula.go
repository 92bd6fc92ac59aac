package samplers

// DULA is the discrete unadjusted Langevin algorithm (DLP, algorithm 1 without
// the Metropolis–Hastings step): every coordinate moves in parallel,
//
//	q_i(v) ∝ exp(½Δ_i(v) − ‖v − θ_i‖²/(2α))
//
// and the proposal is always taken. The stationary law is not π. It tends to π
// as α → 0 where U is quadratic (DLP, theorem 5.1). For another U a bias can
// stay at any α (theorem 5.2 bounds it by the distance of ∇U to a linear function).
// Cost: one evaluation of (U, ∇U) a step.
//
// The zero value adapts α per chain in the burn-in so that an acceptance test
// would accept 0.9 of the proposals. That makes it between a third and 0.7
// of DMALA's α, and the law it draws from is nearer to π. (DLP gives DULA half to two
// thirds of DMALA's step size on Ising models, Boltzmann machines and deep models, and both the
// same for its Bayesian networks.)
type DULA struct {
	// StepSize is α, in squared units of the domain; 0 adapts it.
	StepSize float64
	// Balance replaces exp(½Δ) by g(exp(Δ)).
	Balance Balance
	// Precondition multiplies α per coordinate; nil for 1. See DMALA.
	Precondition []float64
	// TargetAcceptance is the mean acceptance probability that automatic step sizes aim at,
	// were proposals tested. 0 means UnadjustedAcceptance.
	TargetAcceptance float64
	// Batch above 0 makes this stochastic-gradient DULA (DLP, section 6): ∇U
	// in Δ is replaced by an unbiased estimate from that many terms or draws,
	// drawn at each step, so q_i(v) ∝ exp(½Δ̂_i(v) − ‖v − θ_i‖²/(2α)). The target must be a
	// StochasticGradienter. U is then not evaluated (NaN until
	// Chains.Refresh), and an automatic step size stays at its start.
	Batch int
}

// UnadjustedAcceptance is the mean acceptance probability that DULA's step size is adapted to.
// Nothing turns unlikely proposals down, so few of them may be unlikely.
const UnadjustedAcceptance = 0.9

// Name implements Sampler.
func (s *DULA) Name() string { return "dula" }

// Attach implements Sampler.
func (s *DULA) Attach(c *Chains) (Kernel, error) {
	target, err := checkTarget(s.Name(), s.TargetAcceptance, UnadjustedAcceptance)
	if err != nil {
		return nil, err
	}
	d, err := newDLP(c, s.Name(), s.StepSize, s.Balance, s.Precondition, target)
	if err != nil {
		return nil, err
	}
	if err := checkCount(s.Name(), "batch", s.Batch, maxBatch); err != nil {
		return nil, err
	}
	if s.Batch > 0 {
		return newSGKernel(c, s.Name(), d, s.Batch)
	}
	return newDLPKernel(c, d, MHOptions{Uncorrected: true})
}

// Info implements Describer. With a Batch the needs are those of stochastic
// gradients.
func (s *DULA) Info() Info {
	info := dulaInfo
	if s.Batch > 0 {
		info.Needs = Needs{NeedStochasticGradients}
	}
	return info
}

var dulaInfo = Info{
	Name: "dula", Title: "Discrete unadjusted Langevin",
	Doc: "moves all coordinates at once along the gradient, without correction; " +
		"the bias vanishes with the step size where U is quadratic, and can stay elsewhere (DLP 2022)",
	Needs:     Needs{NeedGradients},
	StepCalls: callsOfGradient, // U comes with ∇U, but only tuning looks at it
	Cost: "1 energy and gradient; with batch b 1 mini-batch (on text 2b rows, " +
		"instead of m for m tokens)",
	Params: []Param{
		stepParam(func(s Sampler, v float64) { s.(*DULA).StepSize = v }),
		balanceParam(func(s Sampler, v Balance) { s.(*DULA).Balance = v }),
		preconditionParam(func(s Sampler, v []float64) { s.(*DULA).Precondition = v }),
		acceptParam(UnadjustedAcceptance, func(s Sampler, v float64) { s.(*DULA).TargetAcceptance = v }),
		countParam("batch", 0, 0, maxBatch, "terms per stochastic gradient; 0 for the full "+
			"gradient; on text at least "+
			"2, of all tokens if there are fewer",
			func(s Sampler, v int) { s.(*DULA).Batch = v }),
	},
	make: func() Sampler { return &DULA{} },
}
