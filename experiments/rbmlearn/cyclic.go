package rbmlearn

import (
	"context"
	"math"
	"math/rand/v2"

	"infill/experiments/boltzmann"
	"infill/samplers"
	"infill/samplers/targets"
)

// langevin is the proposal of ACS (equation 5) on {0,1}^n, with a step size and an exponent that
// may be changed between steps,
//
//	q_i(flip) = σ(β Δ_i − 1/(2α))
//
// The samplers of the package samplers choose both in a burn-in and then leave them. Here the
// machine changes all the time, and so do they.
type langevin struct {
	alpha, beta float64
	untested    bool // steps are taken without the acceptance test
}

// Name implements samplers.Sampler.
func (l *langevin) Name() string { return "langevin" }

// Attach implements samplers.Sampler.
func (l *langevin) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	return samplers.NewMH(c, l, samplers.MHOptions{Gradient: true, UntestedAnytime: true})
}

// Schedule implements samplers.Scheduler.
func (l *langevin) Schedule(int, int) bool { return l.untested }

// flip is the probability that coordinate i of x changes.
func (l *langevin) flip(x int32, grad float64) float64 {
	return 1 / (1 + math.Exp(1/(2*l.alpha)-l.beta*float64(1-2*x)*grad))
}

// Propose implements samplers.Proposal.
func (l *langevin) Propose(_ int, x []int32, grad []float64, rng *rand.Rand, y []int32) float64 {
	sum := 0.0
	for i, v := range x {
		p := l.flip(v, grad[i])
		if rng.Float64() < p {
			y[i] = 1 - v
			sum += math.Log(p)
		} else {
			sum += math.Log1p(-p)
		}
	}
	return sum
}

// Reverse implements samplers.Proposal.
func (l *langevin) Reverse(_ int, x, y []int32, grad []float64) float64 {
	sum := 0.0
	for i, v := range y {
		if p := l.flip(v, grad[i]); v != x[i] {
			sum += math.Log(p)
		} else {
			sum += math.Log1p(-p)
		}
	}
	return sum
}

// cyclic are the settings of ACS's algorithm 6, with the values of its appendix D.4.
type cyclic struct {
	steps   int     // sampling steps of an iteration, S_small; S_big is half of it
	cycle   int     // iterations of a cycle, s: the first explores
	period  int     // iterations from one tuning to the next
	budget  int     // steps that each of the two estimates of a tuning makes
	rho     float64 // acceptance probability that steps are tuned to
	betaMax float64
	betaMin float64
	ceil    float64 // of α_max
	floor   float64 // of α_min, at first
	zeta    float64
}

func settings(steps, period int) cyclic {
	return cyclic{steps: steps, cycle: 8, period: period, budget: 50, rho: 0.5, betaMax: 0.9,
		betaMin: 0.5, ceil: 5, floor: 0.05, zeta: 0.5}
}

// candidates are the step sizes that one round of algorithm 4 tries.
const candidates = 5

// scheduler is algorithm 6 at work.
type scheduler struct {
	cyclic
	l        *langevin
	run      *samplers.Run
	max, min float64   // α_max and α_min
	mins     []float64 // all α_min found
}

// persistent is persistent contrastive divergence with algorithm 6. In the first two iterations
// of each period the chains go on with the steps that tuning makes, EstAlphaMax and EstAlphaMin.
// Otherwise the first iteration of a cycle makes half of the steps at α_max and β_max without the
// acceptance test, and the others make all of them at α_min and β_min with it. (By the letter of
// algorithm 6 all iterations of some cycles tune. For deep models appendix D.4 counts 16 000
// steps of tuning, which is each of the two estimates once every 25 cycles.)
func (c cyclic) persistent(ctx context.Context, r *targets.RBM, start [][]int32,
	o samplers.Options) (boltzmann.Negative, *scheduler, error) {
	s := &scheduler{cyclic: c, l: &langevin{alpha: c.floor, beta: c.betaMin}, max: c.ceil,
		min: c.floor}
	var err error
	if s.run, err = samplers.Start(ctx, s.l, r, start, o); err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, it int, _ [][]int32) ([][]int32, error) {
		if it > 0 {
			if err := s.run.Retarget(ctx); err != nil {
				return nil, err
			}
		}
		err := s.iterate(ctx, it)
		return s.run.X, err
	}, s, nil
}

// iterate makes the steps of an iteration.
func (s *scheduler) iterate(ctx context.Context, it int) (err error) {
	switch {
	case it%s.period == 0:
		s.max, err = s.estimate(ctx, s.ceil, s.betaMax, -1)
		return err
	case it%s.period == 1:
		if s.min, err = s.estimate(ctx, s.lowest(), s.betaMin, 1); err == nil {
			s.mins = append(s.mins, s.min)
		}
		return err
	case it%s.cycle == 0:
		s.l.alpha, s.l.beta, s.l.untested = s.max, s.betaMax, true
		defer func() { s.l.untested = false }()
		return s.run.Steps(ctx, max(1, s.steps/2), nil)
	}
	s.l.alpha, s.l.beta = s.min, s.betaMin
	return s.run.Steps(ctx, s.steps, nil)
}

// lowest is α_floor: one standard deviation below the mean of all α_min found (appendix D.4).
func (s *scheduler) lowest() float64 {
	if len(s.mins) == 0 {
		return s.floor
	}
	n, sum, sq := float64(len(s.mins)), 0.0, 0.0
	for _, v := range s.mins {
		sum += v / n
		sq += v * v / n
	}
	return math.Max(s.floor, sum-math.Sqrt(math.Max(0, sq-sum*sum)))
}

// estimate is algorithm 4. From bound
// it goes down for α_max (sign −1) or up for α_min (sign 1). Each candidate makes one step, from
// where the one before left the chains. The paper makes all from one state.
func (s *scheduler) estimate(ctx context.Context, bound, beta, sign float64) (float64, error) {
	rho := 0.0
	for left := s.budget; left >= candidates; left -= candidates {
		far, best := bound*(1+sign*s.zeta*math.Abs(s.rho-rho)), math.Inf(1)
		from, next := bound, bound
		for n := range candidates {
			s.l.alpha, s.l.beta = from+(far-from)*float64(n)/(candidates-1), beta
			if err := s.run.Step(ctx); err != nil {
				return 0, err
			}
			mean := 0.0
			for _, m := range s.run.Last {
				mean += m.Prob / float64(s.run.Len())
			}
			if d := math.Abs(mean - s.rho); d < best {
				best, rho, next = d, mean, s.l.alpha
			}
		}
		bound = next
	}
	return bound, nil
}
