package contrast

import (
	"context"
	"math"

	"infill/samplers"
)

// A Tuning says when and how ACS tunes itself.
type Tuning struct {
	Period int // iterations from one tuning to the next, 2 or more
	Budget int // steps that each of the two estimates of a tuning makes
	// Rise begins the search of α_min one standard deviation below the mean of all that were found
	// (appendix D.4, for Boltzmann machines). Otherwise it begins at α_floor, as algorithm 6 has it.
	Rise bool
}

// cyclic are the settings of ACS's algorithm 6, with the values of its appendix D.4.
type cyclic struct {
	Tuning
	steps   int     // sampling steps of an iteration, S_small; S_big is half of it
	cycle   int     // iterations of a cycle, s: the first explores
	rho     float64 // acceptance probability that steps are tuned to
	betaMax float64
	betaMin float64
	ceil    float64 // of α_max
	floor   float64 // of α_min, at first
}

func settings(steps int, t Tuning) cyclic {
	return cyclic{Tuning: t, steps: steps, cycle: 8, rho: 0.5, betaMax: 0.9,
		betaMin: 0.5, ceil: 5, floor: 0.05}
}

// scheduler is algorithm 6 at work.
type scheduler struct {
	cyclic
	run      *samplers.Run
	stride   stride    // of the next steps
	max, min float64   // α_max and α_min
	mins     []float64 // all α_min found
}

// Cyclic is persistent contrastive divergence with ACS's algorithm 6, which is Persistent with a
// step size that depends on the iteration. In the first two iterations of each period the chains
// go on with the steps that tuning makes, EstAlphaMax and EstAlphaMin. Otherwise the first
// iteration of a cycle makes half of the steps at α_max and β_max without the acceptance test, and
// the others make all of them at α_min and β_min with it. (By the letter of algorithm 6 all
// iterations of some cycles tune. For deep models appendix D.5 counts 16 000 steps of tuning, which
// is each of the two estimates once every 25 cycles. Line 20 of the algorithm makes S_big steps in
// either case, though line 16 has set S to S_small.)
func Cyclic(ctx context.Context, t samplers.Target, start [][]int32, steps int,
	tuning Tuning, o samplers.Options) (Negative, error) {
	s, err := settings(steps, tuning).begin(ctx, t, start, o)
	if err != nil {
		return nil, err
	}
	return follow(s.run, s.iterate), nil
}

// begin starts the chains.
func (c cyclic) begin(ctx context.Context, t samplers.Target, start [][]int32,
	o samplers.Options) (*scheduler, error) {
	s := &scheduler{cyclic: c, max: c.ceil, min: c.floor}
	var err error
	s.run, err = samplers.Start(ctx, &samplers.ACS{Scale: s.stride.of}, t, start, o)
	return s, err
}

// iterate makes the steps of an iteration.
func (s *scheduler) iterate(ctx context.Context, it int) (err error) {
	search := stepSearch{budget: s.Budget, goal: s.rho}
	steps := s.steps
	s.stride = stride{s.min, s.betaMin, false}
	switch {
	case it%s.Period == 0:
		search.from, search.down, search.beta = s.ceil, true, s.betaMax
		s.max, err = search.run(ctx, s.run, &s.stride)
		return err
	case it%s.Period == 1:
		search.from, search.beta = s.lowest(), s.betaMin
		if s.min, err = search.run(ctx, s.run, &s.stride); err == nil {
			s.mins = append(s.mins, s.min)
		}
		return err
	case it%s.cycle == 0:
		s.stride = stride{s.max, s.betaMax, true}
		steps = max(1, s.steps/2)
	}
	return s.run.Steps(ctx, steps, nil)
}

// lowest is where the search of α_min begins.
func (s *scheduler) lowest() float64 {
	if !s.Rise || len(s.mins) == 0 {
		return s.floor
	}
	n, sum, sq := float64(len(s.mins)), 0.0, 0.0
	for _, v := range s.mins {
		sum += v / n
		sq += v * v / n
	}
	return math.Max(s.floor, sum-math.Sqrt(math.Max(0, sq-sum*sum)))
}
