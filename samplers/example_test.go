package samplers_test

import (
	"context"
	"fmt"
	"log"

	"infill/samplers"
	"infill/samplers/targets"
)

// Sampling a 3×3 Ising model with DMALA and comparing with the exact answer.
// Sample makes the burn-in, in which the step size is adapted, and then the draws
// that the visit sees.
func Example() {
	ctx := context.Background()
	model, err := targets.NewIsing(3, 3, true, 0.1, []float64{0.2}, false)
	if err != nil {
		log.Fatal(err)
	}
	starts := make([][]int32, 8)
	for k := range starts {
		starts[k] = make([]int32, 9)
	}
	run, err := samplers.Start(ctx, &samplers.DMALA{}, model, starts,
		samplers.Options{Seed: 1, Burnin: 300})
	if err != nil {
		log.Fatal(err)
	}
	mean := 0.0 // of all spins of all chains
	if err := run.Sample(ctx, 4000, func(r *samplers.Run) error {
		for k := range r.X {
			for _, v := range r.X[k] {
				mean += float64(2*v-1) / (9 * 8 * 4000)
			}
		}
		return nil
	}); err != nil {
		log.Fatal(err)
	}
	_, exact, err := model.Exact()
	if err != nil {
		log.Fatal(err)
	}
	var stats samplers.Stats
	for _, s := range run.Stats {
		stats.Add(s)
	}
	fmt.Printf("mean spin %.2f, exact %.2f\n", mean, exact[0])
	fmt.Printf("mean probability %.1f, evaluations at most one a step: %v\n", stats.MeanProb(),
		stats.Evals <= stats.Steps)
	// Output:
	// mean spin 0.47, exact 0.47
	// mean probability 0.6, evaluations at most one a step: true
}
