package rbm

import (
	"context"

	"infill/lab/experiments/images"
	"infill/lab/papers"
	"infill/samplers"
)

// unboundedStep takes the penalty ‖θ′ − θ‖²/(2α) out of a proposal.
const unboundedStep = 1e12

// stepless is the mean acceptance probability of DMALA without the penalty (DLP, appendix D), over
// the steps of chains that begin at images.
func (p plan) stepless(ctx context.Context, r *papers.RBM, set *images.Set, steps int,
	seed uint64) (float64, error) {
	run, err := samplers.Start(ctx, &samplers.DMALA{StepSize: unboundedStep}, r, set.Train[:p.chains],
		samplers.Options{Seed: seed, ID: "stepless"})
	if err != nil {
		return 0, err
	}
	if err := run.Steps(ctx, steps, nil); err != nil {
		return 0, err
	}
	var all samplers.Stats
	for _, st := range run.Stats {
		all.Add(st)
	}
	return all.MeanProb(), nil
}
