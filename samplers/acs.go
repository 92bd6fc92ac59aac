package samplers

import (
	"fmt"
	"math"
)

// ACS is the automatic cyclical sampler (Pynadath et al. 2024): the proposal
//
//	q_i(v) ∝ exp(β_k Δ_i(v) − ‖v − θ_i‖²/(2α_k))
//
// accepted by Metropolis–Hastings, with a step size that falls along a cosine
// from AlphaMax to AlphaMin in each cycle of s steps and jumps back:
//
//	α_k = max((AlphaMax/2)(cos(π k/s) + 1), AlphaMin),  k = step mod s
//
// (equation 8 of the paper misprints the first term as α_max·cos + 1; Power below is an
// exponent for (cos + 1)/2), and with a balancing exponent β_k for each α_k, in
// [BetaMin, BetaMax] and larger for larger steps.
// Large steps find modes, small ones explore them. Every step leaves π
// invariant, and so does the cycle. Exact. Cost: one evaluation of (U, ∇U) a
// step.
//
// The zero value tunes both step sizes and β_k in the burn-in, each chain by
// itself from its own acceptance probabilities. The paper has 500 steps for it
// (section 4.4):
//
//   - AlphaMin to the step size that is accepted with probability ρ* at BetaMin,
//     but at most AlphaMax/√2, so that a cycle remains;
//   - AlphaMax to the largest step size that is accepted with probability ρ* at
//     the β that is best for it. (In the paper this β is BetaMax. Where
//     coordinates depend on each other enough, BetaMax has ρ* only at steps
//     smaller than AlphaMin; where they do not, BetaMax is the best β.)
//   - β_k to the most accepted β in [BetaMin, β_{k−1}].
//
// The search takes the acceptance to fall as α grows. The paper's figure 3 has one that does
// not, on a deep model, which is why its search for AlphaMax comes down from AlphaCeil
// (algorithm 4, Run.SearchStep). Where the acceptance falls below ρ* and rises above it again,
// AlphaMax here may be the smaller of the step sizes that have it.
//
// So a cycle begins at an acceptance near ρ* and goes above it: towards its end
// β_k is better than the BetaMin that AlphaMin was tuned at. Where even AlphaCeil
// is accepted more often, AlphaMax is AlphaCeil; ordinal coordinates of many
// values may need a larger one. AlphaCeil is 60 as in the paper's algorithm 2. Its
// appendix D.4, on learning, has 5. Where steps above 5 are accepted the difference
// counts: on 200 independent coordinates of 4 categories the ESS per evaluation is .46
// with 60 and .13 with 5, on binary ones .67 and .53 (per call, see Info.Calls, a
// quarter of these). On the Ising, Potts, RBM and
// regression targets of lab/compare both give the same within 20 %. With 60 the
// search has a range of 7 in place of 4.6 in log α, so that short burn-ins find α less
// exactly. The procedure is described in acstune.go. A
// burn-in below 100 steps is too short for all of it: then AlphaMax is the step
// size of acceptance ρ* at BetaMin, which all β_k are. A large target does not
// even forget its start in 25 steps; AlphaMax then comes out too large.
//
// The table has the mean acceptance probability at the first, middle and last
// position of the cycle, of 8 chains with random starts and ρ* = .5. The targets are
// Ising periodic (a = .1, b = .2), Potts open (4 categories, a = .8) and 3×3 modes 12
// apart (σ = 2, with AlphaCeil 1000). The long test TestACSAcceptance measures it.
//
//	burn-in  Ising 20×20   Ising 5×5     Potts 10×10   modes
//	     25  .10 .31 .36   .32 .36 .38   .14 .29 .32   .52 .63 .65
//	    100  .45 .73 .73   .39 .39 .55   .47 .79 .77   .38 .53 .54
//	    200  .38 .67 .68   .44 .49 .58   .45 .74 .75   .41 .61 .57
//	    500  .48 .71 .70   .53 .62 .65   .48 .73 .74   .43 .65 .57
//	   2000  .54 .78 .78   .51 .57 .67   .57 .82 .83   .45 .63 .64
//
// Given AlphaMax and AlphaMin, only β_k is tuned, β_0 included, and with
// FixedBeta only the step sizes, AlphaMax at BetaMax; β_k then goes linearly
// with α_k from BetaMin to BetaMax. With both nothing is tuned. Without burn-in
// AlphaMax is AlphaCeil, AlphaMin is AlphaFloor, and β_k is linear.
type ACS struct {
	AlphaMax, AlphaMin float64 // largest and smallest step; 0 tunes them
	BetaMax, BetaMin   float64 // range of β; 0 means 0.95 and 0.5
	AlphaCeil          float64 // largest step size that tuning tries; 0 means 60
	AlphaFloor         float64 // smallest step size that tuning tries; 0 means 0.05
	Cycle              int     // s; 0 means 20
	// Power makes the schedule AlphaMax·((cos + 1)/2)^Power; 0 means 1. The
	// public code for two ordinal coordinates takes the cosine of a root of
	// α, which is a Power of 4: most of a cycle goes to small steps.
	Power     float64
	FixedBeta bool // do not tune β_k
	// TargetAcceptance is ρ*, what AlphaMax and AlphaMin are tuned to; 0
	// means 0.5.
	TargetAcceptance float64
}

// Defaults of ACS, from the paper's algorithm 2 and its appendices A and D.2.
const (
	acsAlphaCeil  = 60
	acsAlphaFloor = 0.05
	acsBetaMax    = 0.95
	acsBetaMin    = 0.5
	acsPower      = 1
	acsCycle      = 20
	acsAcceptance = 0.5
)

// maxCycle bounds ACS.Cycle, for which β are kept per chain.
const maxCycle = 1_000_000

// Name implements Sampler.
func (s *ACS) Name() string { return "acs" }

// Attach implements Sampler.
func (s *ACS) Attach(c *Chains) (Kernel, error) {
	cfg, err := s.config()
	if err != nil {
		return nil, err
	}
	d, err := newStrided(c, s.Name(), 0)
	if err != nil {
		return nil, err
	}
	p := &acsProposer{strided: d, tunes: make([]acsTune, c.Len())}
	for k := range p.tunes {
		p.tunes[k] = newACSTune(cfg, c.Burnin)
	}
	return NewMH(c, p, MHOptions{Gradient: true, UntestedAnytime: true})
}

// config is s with its defaults filled in and checked.
func (s *ACS) config() (ACS, error) {
	cfg := *s
	for _, p := range []struct {
		name string
		v    *float64
		def  float64
	}{
		{"alpha-max", &cfg.AlphaMax, 0}, {"alpha-min", &cfg.AlphaMin, 0},
		{"beta-max", &cfg.BetaMax, acsBetaMax}, {"beta-min", &cfg.BetaMin, acsBetaMin},
		{"alpha-ceil", &cfg.AlphaCeil, acsAlphaCeil}, {"alpha-floor", &cfg.AlphaFloor, acsAlphaFloor},
		{"power", &cfg.Power, acsPower},
	} {
		if err := checkPositive(s.Name(), p.name, *p.v, true); err != nil {
			return cfg, err
		}
		if *p.v == 0 {
			*p.v = p.def
		}
	}
	var err error
	if cfg.TargetAcceptance, err = checkTarget(s.Name(), s.TargetAcceptance,
		acsAcceptance); err != nil {
		return cfg, err
	}
	if err := checkCount(s.Name(), "cycle", s.Cycle, maxCycle); err != nil {
		return cfg, err
	}
	if cfg.Cycle == 0 {
		cfg.Cycle = acsCycle
	}
	bad := func(name string, v float64, want string) error {
		return &ParamError{s.Name(), name, fmt.Sprint(v), want}
	}
	switch {
	case cfg.BetaMin > cfg.BetaMax:
		return cfg, bad("beta-min", cfg.BetaMin, fmt.Sprintf("at most beta-max, %g", cfg.BetaMax))
	case cfg.BetaMax > 1:
		return cfg, bad("beta-max", cfg.BetaMax, "at most 1")
	case cfg.AlphaFloor > cfg.AlphaCeil:
		return cfg, bad("alpha-floor", cfg.AlphaFloor, fmt.Sprintf("at most alpha-ceil, %g",
			cfg.AlphaCeil))
	case (cfg.AlphaMax == 0) != (cfg.AlphaMin == 0):
		return cfg, bad("alpha-min", cfg.AlphaMin, "given together with alpha-max, or neither")
	case cfg.AlphaMin > cfg.AlphaMax:
		return cfg, bad("alpha-min", cfg.AlphaMin, fmt.Sprintf("at most alpha-max, %g", cfg.AlphaMax))
	}
	return cfg, nil
}

type acsProposer struct {
	*strided
	tunes []acsTune // per chain
}

func (p *acsProposer) Schedule(k, done int) bool {
	if p.stride != nil {
		return p.stride.Untested
	}
	t := &p.tunes[k]
	var free bool
	p.alpha[k], p.beta[k], free = t.next(done)
	return free
}

func (p *acsProposer) Adapt(k int, m Move) {
	if p.stride == nil {
		p.tunes[k].learn(m.Prob)
	}
}

func (p *acsProposer) Freeze(k int) { p.tunes[k].finish() }

// Tuning implements Tuned.
func (p *acsProposer) Tuning(k int) map[string]float64 {
	t := &p.tunes[k]
	return map[string]float64{
		"alpha-max": t.alphaMax, "alpha-min": t.alphaMin,
		"beta-first": t.beta[0], "beta-last": t.beta[len(t.beta)-1],
	}
}

// cosine is α_k of the schedule with the present α_max and α_min.
func (t *acsTune) cosine(k int) float64 {
	c := (math.Cos(math.Pi*float64(k)/float64(t.cfg.Cycle)) + 1) / 2
	if t.cfg.Power != 1 {
		c = math.Pow(c, t.cfg.Power)
	}
	return math.Max(t.alphaMax*c, t.alphaMin)
}

// Info implements Describer.
func (s *ACS) Info() Info { return acsInfo }

var acsInfo = Info{
	Name: "acs", Title: "Automatic cyclical sampler",
	Exact: true, Corrected: true,
	Doc: "step sizes fall along a cosine and jump back each cycle: large ones find " +
		"modes, small ones explore them (Pynadath et al. 2024); tunes itself in " +
		"the burn-in",
	Needs: Needs{NeedGradients}, Cost: "1 energy and gradient", StepCalls: callsOfGradients,
	Params: []Param{
		acsParam("alpha-max", 0, inf, "largest step size",
			func(s *ACS) *float64 { return &s.AlphaMax }),
		acsParam("alpha-min", 0, inf, "smallest step size",
			func(s *ACS) *float64 { return &s.AlphaMin }),
		acsParam("alpha-ceil", acsAlphaCeil, inf, "largest step size that tuning tries",
			func(s *ACS) *float64 { return &s.AlphaCeil }),
		acsParam("alpha-floor", acsAlphaFloor, inf, "smallest step size that tuning tries",
			func(s *ACS) *float64 { return &s.AlphaFloor }),
		acsParam("beta-max", acsBetaMax, 1, "largest exponent β",
			func(s *ACS) *float64 { return &s.BetaMax }),
		acsParam("beta-min", acsBetaMin, 1, "smallest exponent β",
			func(s *ACS) *float64 { return &s.BetaMin }),
		acsParam("power", acsPower, inf,
			"exponent of the cosine: above 1 more of a cycle goes to small steps",
			func(s *ACS) *float64 { return &s.Power }),
		countParam("cycle", acsCycle, 1, maxCycle, "steps per cycle",
			func(s Sampler, v int) { s.(*ACS).Cycle = v }),
		switchParam("fixed-beta", false, "do not tune β: it goes linearly with the step size from "+
			"beta-min to "+
			"beta-max",
			func(s Sampler) *bool { return &s.(*ACS).FixedBeta }),
		acceptParam(acsAcceptance, func(s Sampler, v float64) { s.(*ACS).TargetAcceptance = v }),
	},
	make: func() Sampler { return &ACS{} },
}
