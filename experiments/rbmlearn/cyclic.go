package rbmlearn

import (
	"context"
	"math"

	"infill/experiments/boltzmann"
	"infill/samplers"
	"infill/samplers/targets"
)

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
}

func settings(steps, period int) cyclic {
	return cyclic{steps: steps, cycle: 8, period: period, budget: 50, rho: 0.5, betaMax: 0.9,
		betaMin: 0.5, ceil: 5, floor: 0.05}
}

// scheduler is algorithm 6 at work.
type scheduler struct {
	cyclic
	run      *samplers.Run
	max, min float64   // α_max and α_min
	mins     []float64 // all α_min found
}

// persistent is persistent contrastive divergence with algorithm 6. In the first two iterations
// of each period the chains go on with the steps that tuning makes, EstAlphaMax and EstAlphaMin.
// Otherwise the first iteration of a cycle makes half of the steps at α_max and β_max without the
// acceptance test, and the others make all of them at α_min and β_min with it. (By the letter of
// algorithm 6 all iterations of some cycles tune. For deep models appendix D.5 counts 16 000
// steps of tuning, which is each of the two estimates once every 25 cycles.)
func (c cyclic) persistent(ctx context.Context, r *targets.RBM, start [][]int32,
	o samplers.Options) (boltzmann.Negative, *scheduler, error) {
	s := &scheduler{cyclic: c, max: c.ceil, min: c.floor}
	var err error
	l := &samplers.AB{StepSize: c.floor, Beta: c.betaMin}
	if s.run, err = samplers.Start(ctx, l, r, start, o); err != nil {
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
	search := samplers.StepSearch{Budget: s.budget, TargetAcceptance: s.rho}
	stride := samplers.Stride{StepSize: s.min, Beta: s.betaMin}
	steps := s.steps
	switch {
	case it%s.period == 0:
		search.From, search.Down, search.Beta = s.ceil, true, s.betaMax
		s.max, err = s.run.SearchStep(ctx, search)
		return err
	case it%s.period == 1:
		search.From, search.Beta = s.lowest(), s.betaMin
		if s.min, err = s.run.SearchStep(ctx, search); err == nil {
			s.mins = append(s.mins, s.min)
		}
		return err
	case it%s.cycle == 0:
		stride = samplers.Stride{StepSize: s.max, Beta: s.betaMax, Untested: true}
		steps = max(1, s.steps/2)
	}
	if err := s.run.SetStride(stride); err != nil {
		return err
	}
	return s.run.Steps(ctx, steps, nil)
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
