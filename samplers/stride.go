package samplers

import (
	"context"
	"fmt"
	"math"
)

// A Stride is the scale of the proposal of ACS (equation 5) and AB,
//
//	q_i(v) ∝ exp(β Δ_i(v) − ‖v − θ_i‖²/(2α))
type Stride struct {
	StepSize float64 // α, in squared units of the domain, above 0
	Beta     float64 // β, above 0 and at most 1; ½ is the balance of DMALA
	// Untested takes every proposal, in the burn-in and after it. Such steps do not leave π
	// invariant.
	Untested bool
}

// Strider is the ability of a Kernel, or of a Proposal, to have its scale set by the user.
type Strider interface {
	// SetStride sets the scale of all chains from the next step on. It ends all adaptation. s is
	// in range.
	SetStride(s Stride)
}

// SetStride makes all steps of the run from the next one on with s, until the next call. Samplers
// choose their scale in the burn-in and then leave it. A target that is learned changes all the
// time (Retarget), and so may the scale: ACS's algorithm 6 explores in one iteration of a cycle and
// stays close in the others. The first call ends what the sampler adapts or schedules by itself.
//
// The run must be one of AB or ACS, or of a kernel that is a Strider. Errors: ErrUnsupported for
// another one, ErrParam for a scale out of range.
func (r *Run) SetStride(s Stride) error {
	if err := r.started(); err != nil {
		return err
	}
	k, ok := r.Kernel.(Strider)
	if m, mh := r.Kernel.(*mhKernel); mh {
		k, ok = m.p.(Strider)
	}
	if !ok {
		return fmt.Errorf("%w: the scale of sampler %s cannot be set between steps; start a run of "+
			"AB or ACS", ErrUnsupported, r.name)
	}
	if err := checkPositive(r.name, "step size", s.StepSize, false); err != nil {
		return err
	}
	if !(s.Beta > 0 && s.Beta <= 1) {
		return &ParamError{r.name, "beta", fmt.Sprint(s.Beta), "a number above 0, at most 1"}
	}
	k.SetStride(s)
	return nil
}

// strided is the proposal of AB and ACS. While stride is nil, they choose its scale themselves.
type strided struct {
	*dlp
	*factorised
	stride *Stride
}

// newStrided makes the proposal with α as given, 1 for 0, and β of 0, for the sampler to set.
func newStrided(c *Chains, name string, alpha float64) (*strided, error) {
	if alpha == 0 {
		alpha = 1
	}
	d, err := newDLP(c, name, alpha, Sqrt, nil, 0)
	if err != nil {
		return nil, err
	}
	d.beta = make([]float64, c.Len())
	return &strided{dlp: d, factorised: newFactorised(c.Domain, d, c.Len())}, nil
}

// SetStride implements Strider.
func (p *strided) SetStride(s Stride) {
	p.stride = &s
	for k := range p.alpha {
		p.alpha[k], p.beta[k] = s.StepSize, s.Beta
	}
}

// A StepSearch says how Run.SearchStep looks for a step size.
type StepSearch struct {
	// From is where the search begins, in squared units of the domain: α_ceil or α_floor.
	From float64
	// Down searches downwards, for the largest step size (EstAlphaMax). Otherwise the search goes
	// upwards, for the smallest (EstAlphaMin).
	Down bool
	Beta float64 // β of all candidates, above 0 and at most 1
	// Budget is the number of steps, 5 to a round. What is left after the last whole round is not
	// made.
	Budget           int
	TargetAcceptance float64 // ρ*; 0 means 0.5
}

// SearchStep returns a step size whose mean acceptance probability over the chains is near ρ*, by
// EstimateAlpha of ACS (algorithm 4), which its algorithm 6 calls EstAlphaMax and EstAlphaMin.
// A round tries five step sizes, evenly spaced from α to
//
//	α (1 ∓ ζ |ρ* − ρ|),  ζ = ½
//
// and goes on from the best, ρ being its acceptance, 0 at first. So the search only ever goes one
// way, and noise takes it too far rather than not far enough. Each candidate makes one tested step,
// from where the one before has left the chains. (The paper makes all five of a round from one
// state, and goes on from the proposal. It does not say whether that is tested.) The stride
// afterwards is that of the last candidate.
//
// The sampler ACS tunes itself otherwise: chain by chain, in both directions and from the
// measurements of all rounds, so that few steps suffice for a target that stays as it is.
//
// Errors: ErrParam, those of SetStride and Step.
func (r *Run) SearchStep(ctx context.Context, s StepSearch) (float64, error) {
	if err := r.started(); err != nil {
		return 0, err
	}
	goal, err := checkTarget(r.name, s.TargetAcceptance, acsAcceptance)
	if err != nil {
		return 0, err
	}
	if s.Budget < acsCandidates {
		return 0, &ParamError{r.name, "budget", fmt.Sprint(s.Budget),
			fmt.Sprintf("%d steps or more", acsCandidates)}
	}
	sign, rho, alpha := 1.0, 0.0, s.From
	if s.Down {
		sign = -1
	}
	for range s.Budget / acsCandidates {
		far, off, best := alpha*(1+sign*acsZeta*math.Abs(goal-rho)), math.Inf(1), alpha
		for n := range acsCandidates {
			a := alpha + (far-alpha)*float64(n)/(acsCandidates-1)
			if err := r.SetStride(Stride{StepSize: a, Beta: s.Beta}); err != nil {
				return 0, err
			}
			if err := r.Step(ctx); err != nil {
				return 0, err
			}
			mean := 0.0
			for _, m := range r.Last {
				mean += m.Prob / float64(r.Len())
			}
			if d := math.Abs(goal - mean); d < off {
				off, rho, best = d, mean, a
			}
		}
		alpha = best
	}
	return alpha, nil
}
