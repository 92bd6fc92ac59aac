package samplers_test

import (
	"context"
	"fmt"
	"log"

	"infill/samplers"
)

// Sampling a 3×3 Ising model with DMALA and comparing with the exact answer.
// Sample makes the burn-in, in which the step size is adapted, and then the draws
// that the visit sees.
func Example() {
	ctx := context.Background()
	model := newIsing(3, 0.2, .2, .2, .2, .2, .2, .2, .2, .2, .2)
	starts := make([][]int32, 8)
	for k := range starts {
		starts[k] = make([]int32, 9)
	}
	run, err := samplers.Start(ctx, &samplers.DMALA{}, model, starts,
		samplers.Options{Seed: 1, Burnin: 300})
	if err != nil {
		log.Fatal(err)
	}
	middle := 0.0 // how often the spin in the middle is up
	if err := run.Sample(ctx, 4000, func(r *samplers.Run) error {
		for k := range r.X {
			middle += float64(r.X[k][4]) / (8 * 4000)
		}
		return nil
	}); err != nil {
		log.Fatal(err)
	}
	exact, err := model.up(ctx)
	if err != nil {
		log.Fatal(err)
	}
	var stats samplers.Stats
	for _, s := range run.Stats {
		stats.Add(s)
	}
	fmt.Printf("up %.2f of the time, exact %.2f\n", middle, exact[4])
	fmt.Printf("mean probability %.1f, evaluations at most one a step: %v\n", stats.MeanProb(),
		stats.Evals <= stats.Steps)
	// Output:
	// up 0.69 of the time, exact 0.70
	// mean probability 0.6, evaluations at most one a step: true
}
