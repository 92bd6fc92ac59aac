package samplers_test

import (
	"context"
	"fmt"
	"log"

	"infill/samplers"
	"infill/samplers/diag"
	"infill/samplers/targets"
)

// Sampling a 3×3 Ising model with DMALA and comparing with the exact answer.
// Sample makes the burn-in, in which the step size is adapted, and then the draws
// that the trace and the marginals see.
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
	var trace diag.Trace
	var marginals diag.Marginals
	if err := run.Sample(ctx, 4000, trace.Observe, marginals.Observe); err != nil {
		log.Fatal(err)
	}
	_, exact, err := model.Exact()
	if err != nil {
		log.Fatal(err)
	}
	d := trace.Diagnose(run)
	mean := 0.0
	for i := range 9 {
		mean += (2*marginals.Mean(i) - 1) / 9
	}
	fmt.Printf("mean spin %.2f, exact %.2f\n", mean, exact[0])
	fmt.Printf("mean probability %.1f, R-hat below 1.01: %v, evaluations at most one a step: %v\n",
		d.Stats.MeanProb(), d.RHat < 1.01, d.Stats.Evals <= d.Stats.Steps)
	// Output:
	// mean spin 0.47, exact 0.47
	// mean probability 0.6, R-hat below 1.01: true, evaluations at most one a step: true
}

// Tracing another scalar than the energy: the effective number of draws of the
// number of spins that point up.
func ExampleTrace() {
	ctx := context.Background()
	model, err := targets.NewIsing(3, 3, true, 0.1, []float64{0.2}, false)
	if err != nil {
		log.Fatal(err)
	}
	run, err := samplers.Start(ctx, &samplers.GWG{}, model, [][]int32{make([]int32, 9)},
		samplers.Options{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	up := diag.Trace{Scalar: func(r *samplers.Run, k int) float64 {
		n := int32(0)
		for _, v := range r.X[k] {
			n += v
		}
		return float64(n)
	}}
	if err := run.Sample(ctx, 2000, up.Observe); err != nil {
		log.Fatal(err)
	}
	d := up.Diagnose(run)
	fmt.Printf("mean %.1f of 9; fewer effective draws than steps: %v\n", d.Mean, d.ESS < 2000)
	// Output:
	// mean 6.4 of 9; fewer effective draws than steps: true
}
