package samplers

import (
	"context"
	"math"

	"infill/internal/nearest"
)

// Rates says where [SGDLD] has its rates from.
type Rates uint8

const (
	autoRates   Rates = iota // ratios where they are cheap (RatioEstimator.RatioKind)
	ratioRates               // of ratios that a mini-batch gives for every neighbour: the paper's
	TaylorRates              // extrapolated from a stochastic gradient: r̂ = exp(Δ), to first order
)

// ratesNames has the names of the values of Rates, in their order.
var ratesNames = []string{"auto", "ratios", "taylor"}

// String returns the name: auto, ratios or taylor.
func (r Rates) String() string { return nearest.Of(ratesNames, "rates", r) }

// SGDLD is stochastic-gradient discrete Langevin dynamics (the paper of that name,
// by anonymous authors under double-blind review, algorithm 1): a jump process on
// single-coordinate neighbours with rates
//
//	R(θ→y) = g(r̂(y)),   r̂(y) an estimate of π(y)/π(θ)
//
// that needs mini-batch estimates only. At step t a new estimate at θ is added
// to a cache, r̂ follows from the cached means (equation 12), and
//
//	Z(θ) = Σ_y R(θ→y),   ε_t = h_t/Z(θ)   (Polyak step, equation 14)
//	with probability min(1, h_t) jump to y ∝ R(θ→y) and empty the cache
//
// The state has weight ε_t in averages (equation 15), see Chains.LogWeight.
//
// The estimates are of a RatioEstimator (ratioRates), asymptotically exact for decreasing h_t
// (proposition 4.1), or of a StochasticGradienter (TaylorRates), not even so. One that is not
// finite is left out of the cache. When it is the first after a jump, the jump is undone. A state
// without any has weight 0, and so has one whose neighbours all have probability zero. Cost: one
// mini-batch a step. Chains.U is NaN until Chains.Refresh.
type SGDLD struct {
	Balance   Balance // g
	Jump      float64 // h_t in (0, 1]; 0 means max(JumpScale/√(JumpDelay+t), MinJump)
	MinJump   float64 // 0 means 0.1
	JumpScale float64 // 0 means 3
	JumpDelay float64 // in steps; 0 means 10
	Time      float64 // ε_t, with jump probability min(1, Time·Z); 0 means Polyak's
	Batch     int     // terms or draws per estimate; 0 means 1
	NoCache   bool    // use the latest estimate alone
	Rates     Rates
}

// Defaults of SGDLD. The schedule comes from the paper's appendix C, where it is used for drawing.
// The appendix has, as scale, delay and minimum, √1000, 100, 0.3 for facility location, and √3, 10,
// 0.1 for approximate computing.
const (
	sgdldMinJump   = 0.1
	sgdldJumpScale = 3
	sgdldJumpDelay = 10
	sgdldBatch     = 1
)

func (s *SGDLD) Attach(c *Chains) (Kernel, error) {
	if int(s.Rates) >= len(ratesNames) {
		return nil, &ParamError{sgdldInfo.Name, "rates", s.Rates.String(), joinNames(ratesNames)}
	}
	o := *s
	if err := sgdldInfo.complete(&o); err != nil {
		return nil, err
	}
	free, err := c.Domain.movable()
	if err != nil {
		return nil, err
	}
	k := &sgdldKernel{
		c: c, s: o, sites: newSites(c.Domain, o.Balance, free),
		free: free,
		cum:  make([]float64, max(len(free), c.Domain.maxK)), n: make([]int, c.Len()),
		u: make([]float64, c.Len()), logZ: make([]float64, c.Len()),
		delta: matrix[float64](c.Len(), c.Domain.gradLen),
		num:   matrix[float64](c.Len(), c.Domain.gradLen), sumNum: matrix[float64](c.Len(),
			c.Domain.gradLen),
		sick: make([]bool, c.Len()), from: make([]jump, c.Len()),
	}
	return k, k.source()
}

// sgdldKernel is SGDLD at work. Its estimates are of one of three kinds, the first two as in the
// examples of section 4.1:
//
//   - of a RatioEstimator of means (quenched), r̂ is the ratio of the cached means of ψ;
//   - of another one (Bayesian), r̂ = exp(the cached mean of the log-ratios). Z is the sum
//     of the rates. The paper approximates Z by a gradient, which saves nothing where
//     the ratio of every neighbour is known.
//   - of a StochasticGradienter, r̂ = exp(Δ) with the cached mean of ∇Û. The error stays however
//     small h and however large the mini-batches are. The paper says in its section 7 that such
//     rates may be biased. Its equation 12 and proposition 4.1 are about ratios.
//
// A log-ratio of −∞ is usable: it is a neighbour of probability zero. Where all neighbours are, no
// chain leaves the state. Its weight is Time where that is given. Otherwise ε is infinite, and the
// weight is 0, so that averages leave the state out. Weights are logarithms because Z differs by
// hundreds of powers of ten between mini-batches.
type sgdldKernel struct {
	c     *Chains
	s     SGDLD                // with its defaults
	ratio RatioEstimator       // of these two one is not nil
	grad  StochasticGradienter //
	means bool                 // the ratios are of means
	sites *sites
	free  []int32
	cum   []float64

	n              []int       // estimates in each cache
	num, den       [][]float64 // the latest estimate; logarithms, if not a gradient
	sumNum, sumDen [][]float64 // the cache: sums of log-ratios or gradients, or log-sums of ψ
	delta          [][]float64 // ∇Û, or the log-ratios written as one
	u              []float64
	logZ           []float64 // log Z of each state

	sick []bool // the rates of each chain's state make up no distribution: it stays
	from []jump // the jump of this step, to be undone where no estimate follows
}

// jump is a change of coordinate i from category v, and the number of estimates
// that the cache held before it; i is −1 for none.
type jump struct {
	i int
	v int32
	n int
}

// Prepare implements Kernel. The caches are empty, and each gets an estimate.
func (s *sgdldKernel) Prepare(ctx context.Context) error {
	for k := range s.n {
		s.n[k], s.from[k] = 0, jump{i: -1}
	}
	return s.estimate(ctx, s.c.done)
}

// h is the jump probability of step t.
func (s *sgdldKernel) h(t int) float64 {
	if s.s.Jump > 0 {
		return s.s.Jump
	}
	return math.Max(s.s.JumpScale/math.Sqrt(s.s.JumpDelay+float64(t)), s.s.MinJump)
}

// Step implements Kernel.
func (s *sgdldKernel) Step(ctx context.Context) error {
	c := s.c
	h := s.h(c.done)
	for k, x := range c.X {
		if s.s.Time > 0 {
			h = math.Exp(math.Log(s.s.Time) + s.logZ[k])
		}
		c.Last[k] = s.move(k, x, h)
	}
	if err := s.estimate(ctx, c.done+1); err != nil {
		return err
	}
	return nil
}

// move makes the jump of chain k, with probability h.
func (s *sgdldKernel) move(k int, x []int32, h float64) Move {
	c, rng := s.c, s.c.RNG[k]
	s.from[k] = jump{i: -1}
	if rng.Float64() >= h {
		return Move{Prob: 1}
	}
	if s.sick[k] { // counted when it was found
		return Move{}
	}
	s.sites.score(x, s.delta[k])
	j, _ := drawLog(rng, s.sites.lw, s.cum)
	i := int(s.free[j])
	v := 1 - x[i]
	if c.Domain.coords[i].Kind != Binary {
		w, _ := drawLog(rng, s.sites.values(i, x[i], s.delta[k]), s.cum)
		v = int32(w)
	}
	s.from[k] = jump{i, x[i], s.n[k]}
	x[i] = v
	c.U[k] = math.NaN()
	s.n[k] = 0
	return Move{Accepted: true, Prob: 1, Moved: true, Flips: 1, Hamming: 1}
}

func (s *SGDLD) Info() Info { return sgdldInfo }

var sgdldInfo = Info{
	Name: "sgdld", Title: "Stochastic-gradient discrete Langevin dynamics",
	Doc: "jumps between single-coordinate neighbours with rates from cached " +
		"mini-batch estimates; with rates from ratios exact in the limit of small jump " +
		"probabilities, with Taylor rates not even there; its states carry weights, by " +
		"which averages have to be taken; a count of last states is without them",
	Needs: []Need{needEstimates},
	Cost:  "1 mini-batch",
	Params: []Param{
		balanceParam(func(s *SGDLD) *Balance { return &s.Balance }),
		numberParam("jump", 0, 1, "constant jump probability h; auto is "+
			"max(jump-scale/√(jump-delay+t), min-jump)", func(s *SGDLD) *float64 { return &s.Jump }),
		numberParam("min-jump", sgdldMinJump, 1, "smallest jump probability of the decreasing schedule",
			func(s *SGDLD) *float64 { return &s.MinJump }),
		numberParam("jump-scale", sgdldJumpScale, inf, "how high the decreasing schedule begins; above "+
			"1 a jump is certain", func(s *SGDLD) *float64 { return &s.JumpScale }),
		numberParam("jump-delay", sgdldJumpDelay, inf, "steps that the decreasing schedule stays near "+
			"its beginning", func(s *SGDLD) *float64 { return &s.JumpDelay }),
		numberParam("time", 0, inf, "constant simulation time of a step; auto is jump/Z, which follows "+
			"the rates", func(s *SGDLD) *float64 { return &s.Time }),
		countParam("batch", sgdldBatch, 1, maxBatch, "terms per estimate",
			func(s *SGDLD) *int { return &s.Batch }),
		eitherParam("cache", [2]string{"yes", "no"}, "average the estimates of a state's neighbours "+
			"until it is left; no: a new mini-batch each step", func(s *SGDLD) *bool { return &s.NoCache }),
		{
			Name: "rates", Default: "auto", Choices: ratesNames,
			Doc: "ratios: those that the mini-batch gives for every neighbour; taylor: " +
				"extrapolated from its gradient, not exact; auto: ratios where they are " +
				"affordable",
			Set: func(s Sampler, v Value) { s.(*SGDLD).Rates = Rates(v.Word) },
		},
	},
}
