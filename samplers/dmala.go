package samplers

import "context"

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
	o := *s
	if err := dmalaInfo.complete(&o); err != nil {
		return nil, err
	}
	d, err := newDLP(c, dmalaInfo.Name, o.StepSize, o.Balance, o.Precondition, o.TargetAcceptance)
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
		numberParam("step-size", 0, inf, stepDoc, func(s *DMALA) *float64 { return &s.StepSize }),
		balanceParam(func(s *DMALA) *Balance { return &s.Balance }),
		acceptParam(usualAcceptance, func(s *DMALA) *float64 { return &s.TargetAcceptance }),
	},
}

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
	o := *s
	if err := dulaInfo.complete(&o); err != nil {
		return nil, err
	}
	d, err := newDLP(c, dulaInfo.Name, o.StepSize, o.Balance, o.Precondition, o.TargetAcceptance)
	if err != nil {
		return nil, err
	}
	if o.Batch > 0 {
		return newSGKernel(c, dulaInfo.Name, d, o.Batch)
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
		numberParam("step-size", 0, inf, stepDoc, func(s *DULA) *float64 { return &s.StepSize }),
		balanceParam(func(s *DULA) *Balance { return &s.Balance }),
		acceptParam(unadjustedAcceptance, func(s *DULA) *float64 { return &s.TargetAcceptance }),
		countParam("batch", 0, 0, maxBatch, "terms per stochastic gradient; 0 for the full "+
			"gradient", func(s *DULA) *int { return &s.Batch }),
	},
}

// maxBatch bounds the terms of a mini-batch; targets clamp it further to what
// they have.
const maxBatch = 1_000_000

// sgProposer is stochastic-gradient DULA (DLP, section 6 and theorem 6.1): the
// proposal of DULA with ∇U replaced by an unbiased estimate ∇Û from a mini-batch,
// a new one each step, always taken:
//
//	q_i(v) ∝ exp(½Δ̂_i(v) − ‖v − θ_i‖²/(2α)),   E ∇Û = ∇U
//
// Nothing is corrected, and U is not evaluated. The theorem is about one step.
// The bias of the stationary law stays as α falls, as E exp(½Δ̂) is above exp(½Δ).
type sgProposer struct {
	dlpProposer
	c     *Chains
	t     StochasticGradienter
	batch int
	u     []float64
}

func newSGKernel(c *Chains, name string, d *dlp, batch int) (Kernel, error) {
	t, ok := c.Target.(StochasticGradienter)
	if !ok {
		return nil, &abilityError{name, "stochastic gradients (StochasticGrad)",
			"leave the batch parameter out to use full gradients"}
	}
	c.Grad = matrix[float64](c.Len(), c.Domain.gradLen)
	p := &sgProposer{dlpProposer{newFactorised(c.Domain, d, c.Len()), d, nil}, c, t, batch,
		make([]float64, c.Len())}
	return newMH(c, p, mhOptions{blind: true})
}

// Schedule implements scheduler: every step has a gradient of its own.
func (s *sgProposer) Schedule(ctx context.Context, _ int, _ []bool) error {
	c := s.c
	if err := s.t.StochasticGrad(ctx, c.X, s.batch, c.RNG, s.u, c.Grad); err != nil {
		return err
	}
	for k := range c.X {
		c.Stats[k].Evals++
		s.forget(k)
	}
	return nil
}
