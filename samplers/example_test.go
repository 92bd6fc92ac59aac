package samplers_test

import (
	"context"
	"fmt"

	"infill/samplers"
	"infill/samplers/targets"
)

// Sampling a 3×3 Ising model with DMALA, with the step size adapted in a
// burn-in, and comparing with the exact answer.
func Example() {
	ctx := context.Background()
	model, err := targets.NewIsing(3, 3, true, 0.1, []float64{0.2}, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	starts := make([][]int32, 8)
	for k := range starts {
		starts[k] = make([]int32, 9)
	}
	run, err := samplers.Start(ctx, &samplers.DMALA{}, model, starts, samplers.Options{Seed: 1, Burnin: 300})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := run.Steps(ctx, 300, nil); err != nil { // the burn-in
		fmt.Println(err)
		return
	}
	run.ResetStats()
	var trace samplers.Trace
	mean, n := 0.0, 0
	err = run.Steps(ctx, 4000, func(r *samplers.Run) error {
		for _, x := range r.X {
			for i, v := range x {
				mean += model.Domain().Value(i, v)*2 - 1
				n++
			}
		}
		return trace.Observe(r)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, exact, err := model.Exact()
	if err != nil {
		fmt.Println(err)
		return
	}
	d := trace.Diagnose(run)
	fmt.Printf("mean spin %.2f, exact %.2f\n", mean/float64(n), exact[0])
	fmt.Printf("acceptance %.1f, R-hat below 1.01: %v, evaluations at most one a step: %v\n", d.Acceptance, d.RHat < 1.01, d.Stats.Evals <= d.Stats.Steps)
	// Output:
	// mean spin 0.47, exact 0.47
	// acceptance 0.6, R-hat below 1.01: true, evaluations at most one a step: true
}
