package contrast

import (
	"context"
	"fmt"
	"math"

	"infill/samplers"
)

// stride is the scale of the next steps of all chains, and whether they go without the acceptance
// test.
type stride struct {
	alpha, beta float64
	untested    bool
}

// of is an ACS.Scale.
func (s *stride) of(int) (alpha, beta float64, untested bool) { return s.alpha, s.beta, s.untested }

// stepSearch says how the search for a step size goes.
type stepSearch struct {
	// from is where the search begins, in squared units of the domain: α_ceil or α_floor.
	from float64
	// down searches downwards, for the largest step size (EstAlphaMax). Otherwise the search goes
	// upwards, for the smallest (EstAlphaMin).
	down bool
	beta float64 // β of all candidates, above 0 and at most 1
	// budget is the number of steps, 5 to a round. What is left after the last whole round is not
	// made.
	budget int
	goal   float64 // ρ*
}

// candidates is the number of step sizes that a round tries, and zeta is ζ.
const (
	candidates = 5
	zeta       = 0.5
)

// run returns a step size whose mean acceptance probability over the chains of r, an ACS with its
// scale from at, is near ρ*, by EstimateAlpha of ACS (algorithm 4), which its algorithm 6 calls
// EstAlphaMax and EstAlphaMin. A round tries five step sizes, evenly spaced from α to
//
//	α (1 ∓ ζ |ρ* − ρ|),  ζ = ½
//
// and goes on from the best, ρ being its acceptance, 0 at first. So the search only ever goes one
// way, and noise takes it too far rather than not far enough. Each candidate makes one tested step,
// from where the one before has left the chains. (The paper makes all five of a round from one
// state, and goes on from the proposal. It does not say whether that is tested.) The stride
// afterwards is the last candidate's.
func (s stepSearch) run(ctx context.Context, r *samplers.Run, at *stride) (float64, error) {
	if s.budget < candidates {
		return 0, fmt.Errorf("%w: a budget of %d steps, want %d or more", samplers.ErrParam, s.budget,
			candidates)
	}
	sign, rho, alpha := 1.0, 0.0, s.from
	if s.down {
		sign = -1
	}
	for range s.budget / candidates {
		far, off, best := alpha*(1+sign*zeta*math.Abs(s.goal-rho)), math.Inf(1), alpha
		for n := range candidates {
			a := alpha + (far-alpha)*float64(n)/(candidates-1)
			*at = stride{a, s.beta, false}
			if err := r.Step(ctx); err != nil {
				return 0, err
			}
			mean := 0.0
			for _, m := range r.Last {
				mean += m.Prob / float64(r.Len())
			}
			if d := math.Abs(s.goal - mean); d < off {
				off, rho, best = d, mean, a
			}
		}
		alpha = best
	}
	return alpha, nil
}
