package samplers

// DULA is the discrete unadjusted Langevin algorithm (DLP, algorithm 1 without
// the Metropolis–Hastings step): every coordinate moves in parallel,
//
//	q_i(v) ∝ exp(½Δ_i(v) − ‖v − θ_i‖²/(2α))
//
// and the proposal is always taken. The stationary law is not π. It tends to π as α → 0 where U is
// quadratic (DLP, theorem 5.1). For another U a bias can stay (theorem 5.2).
type DULA struct {
	StepSize     float64   // as in DMALA
	Balance      Balance   // as in DMALA
	Precondition []float64 // as in DMALA
	// TargetAcceptance is what an acceptance test would accept; 0 means 0.9.
	TargetAcceptance float64
	// Batch above 0 replaces ∇U by estimates from that many terms or draws (StochasticGradienter; DLP,
	// section 6). U is then not evaluated, and an automatic step size stays at its start.
	Batch int
}

// unadjustedAcceptance is the mean acceptance probability that DULA's step size is adapted to.
// Nothing turns unlikely proposals down, so few of them may be unlikely. That makes it between a
// third and 0.7 of DMALA's α, and the law it draws from is nearer to π. (DLP gives DULA half to two
// thirds of DMALA's step size on Ising models, Boltzmann machines and deep models, and both the
// same for its Bayesian networks.)
const unadjustedAcceptance = 0.9

func (s *DULA) Attach(c *Chains) (Kernel, error) {
	target, err := checkTarget(dulaInfo.Name, s.TargetAcceptance, unadjustedAcceptance)
	if err != nil {
		return nil, err
	}
	d, err := newDLP(c, dulaInfo.Name, s.StepSize, s.Balance, s.Precondition, target)
	if err != nil {
		return nil, err
	}
	if err := checkCount(dulaInfo.Name, "batch", s.Batch, maxBatch); err != nil {
		return nil, err
	}
	if s.Batch > 0 {
		return newSGKernel(c, dulaInfo.Name, d, s.Batch)
	}
	return newDLPKernel(c, d, MHOptions{Uncorrected: true})
}

// Info implements Sampler. With a Batch it needs what stochastic gradients
// need.
func (s *DULA) Info() Info {
	info := dulaInfo
	if s != nil && s.Batch > 0 {
		info.Needs = []Need{needStochasticGradients}
	}
	return info
}

var dulaInfo = Info{
	Name: "dula", Title: "Discrete unadjusted Langevin",
	Doc: "moves all coordinates at once along the gradient, without correction; " +
		"the bias vanishes with the step size where U is quadratic, and can stay elsewhere (DLP 2022)",
	Needs: []Need{NeedGradients},
	Cost:  "1 energy and gradient; with a batch 1 mini-batch",
	Params: []Param{
		stepParam(func(s Sampler, v float64) { s.(*DULA).StepSize = v }),
		balanceParam(func(s Sampler, v Balance) { s.(*DULA).Balance = v }),
		acceptParam(unadjustedAcceptance, func(s Sampler, v float64) { s.(*DULA).TargetAcceptance = v }),
		countParam("batch", 0, 0, maxBatch, "terms per stochastic gradient; 0 for the full "+
			"gradient",
			func(s Sampler, v int) { s.(*DULA).Batch = v }),
	},
}
