package samplers

import (
	"context"
	"fmt"
	"math"
)

// ACS is the automatic cyclical sampler (Pynadath et al. 2024): the proposal
//
//	q_i(v) ∝ exp(β_k Δ_i(v) − ‖v − θ_i‖²/(2α_k))
//
// accepted by Metropolis–Hastings, with a step size that falls along a cosine
// in each cycle of s steps and jumps back,
//
//	α_k = max(AlphaMax ((cos(π k/s) + 1)/2)^Power, AlphaMin),  k = step mod s
//
// (equation 8, with a misprint put right), and a balancing exponent β_k that is larger for larger
// steps. Large steps find modes, small ones explore them.
//
// The zero value tunes all three in the burn-in, each chain by itself, to a mean acceptance
// probability of ρ*: AlphaMin at BetaMin, AlphaMax at the β that is best for it, each β_k to the
// most accepted. A burn-in below 100 steps finds one step size at BetaMin only. With AlphaMax and
// AlphaMin given only β_k is tuned, and with FixedBeta only the step sizes; β_k then goes linearly
// with α_k from BetaMin to BetaMax. Ordinal coordinates of many values may need a larger
// AlphaCeil.
type ACS struct {
	AlphaMax, AlphaMin float64 // largest and smallest step; 0 tunes them
	BetaMax, BetaMin   float64 // range of β; 0 means 0.95 and 0.5
	AlphaCeil          float64 // largest step size that tuning tries; 0 means 60
	AlphaFloor         float64 // smallest step size that tuning tries; 0 means 0.05
	Cycle              int     // s; 0 means 20
	Power              float64 // above 1 most of a cycle goes to small steps; 0 means 1
	FixedBeta          bool    // do not tune β_k
	TargetAcceptance   float64 // ρ*; 0 means 0.5
	// Scale, if not nil, gives α and β of a chain's next step in place of all that is above, and
	// whether that step goes without the acceptance test, so that π is not left invariant. It is for
	// schedules of one's own, as in the paper's algorithm 6.
	Scale func(chain int) (alpha, beta float64, untested bool)
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

func (s *ACS) Attach(c *Chains) (Kernel, error) {
	cfg, err := s.config()
	if err != nil {
		return nil, err
	}
	d, err := newDLP(c, acsInfo.Name, 1, Sqrt, nil, 0)
	if err != nil {
		return nil, err
	}
	d.beta = make([]float64, c.Len())
	p := &acsProposer{dlp: d, factorised: newFactorised(c.Domain, d, c.Len()), own: s.Scale,
		tunes: make([]acsTune, c.Len())}
	for k := range p.tunes {
		p.tunes[k] = newACSTune(cfg, c.Burnin)
	}
	return newMH(c, p, mhOptions{MHOptions: MHOptions{Gradient: true}, anytime: true})
}

// config is s with its defaults filled in and checked.
func (s *ACS) config() (ACS, error) {
	cfg := *s
	if err := acsInfo.complete(&cfg); err != nil {
		return cfg, err
	}
	bad := func(name string, v float64, want string) error {
		return &ParamError{acsInfo.Name, name, fmt.Sprint(v), want}
	}
	switch {
	case cfg.BetaMin > cfg.BetaMax:
		return cfg, bad("beta-min", cfg.BetaMin, fmt.Sprintf("at most beta-max, %g", cfg.BetaMax))
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
	*dlp
	*factorised
	own   func(chain int) (alpha, beta float64, untested bool) // ACS.Scale
	tunes []acsTune                                            // per chain
}

// Schedule sets (α, β) of the next step.
func (p *acsProposer) Schedule(_ context.Context, done int, untested []bool) error {
	for k := range p.tunes {
		if p.own == nil {
			p.now[k], p.beta[k], untested[k] = p.tunes[k].next(done)
			continue
		}
		p.now[k], p.beta[k], untested[k] = p.own(k)
		if err := checkPositive(acsInfo.Name, "step size", p.now[k]); err != nil {
			return err
		}
		if !(p.beta[k] > 0 && p.beta[k] <= 1) {
			return &ParamError{acsInfo.Name, "beta", fmt.Sprint(p.beta[k]),
				"a number above 0, at most 1"}
		}
	}
	return nil
}

func (p *acsProposer) Adapt(k int, m Move) {
	if p.own == nil {
		p.tunes[k].learn(m.Prob)
	}
}

func (p *acsProposer) Freeze(k int) { p.tunes[k].finish() }

// Tuning implements Adapter.
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

func (s *ACS) Info() Info { return acsInfo }

var acsInfo = Info{
	Name: "acs", Title: "Automatic cyclical sampler",
	Exact: true, Corrected: true,
	Doc: "step sizes fall along a cosine and jump back each cycle: large ones find " +
		"modes, small ones explore them (Pynadath et al. 2024); tunes itself in " +
		"the burn-in",
	Needs: []Need{NeedGradients}, Cost: "1 energy and gradient",
	Params: []Param{
		numberParam("alpha-max", 0, inf, "largest step size",
			func(s *ACS) *float64 { return &s.AlphaMax }),
		numberParam("alpha-min", 0, inf, "smallest step size",
			func(s *ACS) *float64 { return &s.AlphaMin }),
		numberParam("alpha-ceil", acsAlphaCeil, inf, "largest step size that tuning tries",
			func(s *ACS) *float64 { return &s.AlphaCeil }),
		numberParam("alpha-floor", acsAlphaFloor, inf, "smallest step size that tuning tries",
			func(s *ACS) *float64 { return &s.AlphaFloor }),
		numberParam("beta-max", acsBetaMax, 1, "largest exponent β",
			func(s *ACS) *float64 { return &s.BetaMax }),
		numberParam("beta-min", acsBetaMin, 1, "smallest exponent β",
			func(s *ACS) *float64 { return &s.BetaMin }),
		numberParam("power", acsPower, inf,
			"exponent of the cosine: above 1 more of a cycle goes to small steps",
			func(s *ACS) *float64 { return &s.Power }),
		countParam("cycle", acsCycle, 1, maxCycle, "steps per cycle",
			func(s *ACS) *int { return &s.Cycle }),
		eitherParam("fixed-beta", [2]string{"no", "yes"}, "do not tune β: it goes linearly with the "+
			"step size from beta-min to beta-max", func(s *ACS) *bool { return &s.FixedBeta }),
		acceptParam(acsAcceptance, func(s *ACS) *float64 { return &s.TargetAcceptance }),
	},
}
