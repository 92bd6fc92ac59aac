package samplers_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"infill/samplers"
)

// A new sampler: flip proposes to change one random bit, with the probability
// that the gradient at the state suggests for its other value.
type flip struct{ dom *samplers.Domain }

func (flip) Info() samplers.Info { return samplers.Info{Name: "flip"} }
func (flip) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	return samplers.NewMH(c, flip{c.Domain}, samplers.MHOptions{Gradient: true})
}

func (f flip) Propose(_ int, x []int32, grad []float64, rng *rand.Rand, y []int32) float64 {
	i := rng.IntN(len(x))
	p := f.prob(i, x, grad)
	if rng.Float64() < p {
		y[i] = 1 - x[i]
	}
	return math.Log(p) // of a change; staying needs no acceptance test
}

func (f flip) Reverse(_ int, x, y []int32, grad []float64) float64 {
	i := 0
	for x[i] == y[i] {
		i++
	}
	return math.Log(f.prob(i, y, grad))
}

func (f flip) prob(i int, x []int32, grad []float64) float64 {
	return 1 / (1 + math.Exp(-f.dom.Delta(i, x[i], 1-x[i], grad)))
}

// A sampler of one's own: a Proposal made into a kernel by NewMH. It runs 64
// chains in one batch on a 3×3 Ising model, which is enumerated for comparison.
func ExampleNewMH() {
	ctx := context.Background()
	field := []float64{0.2, -0.1, 0, 0, 0.3, 0, 0, 0, -0.4}
	model := newIsing(3, 0.6, field...)
	truth, err := model.up(ctx)
	if err != nil {
		log.Fatal(err)
	}
	starts := make([][]int32, 64)
	for k := range starts {
		starts[k] = make([]int32, 9)
	}
	run, err := samplers.Start(ctx, flip{}, model, starts, samplers.Options{Seed: 1, Burnin: 200})
	if err != nil {
		log.Fatal(err)
	}
	var up [9]float64 // how often each spin is up
	if err := run.Sample(ctx, 3000, func(r *samplers.Run) error {
		for _, x := range r.X {
			for i, v := range x {
				up[i] += float64(v) / (64 * 3000)
			}
		}
		return nil
	}); err != nil {
		log.Fatal(err)
	}
	worst := 0.0
	for i := range 9 {
		worst = max(worst, math.Abs(up[i]-truth[i]))
	}
	fmt.Printf("P(spin 8 is up) = %.1f, exact %.1f; largest error of all below 0.02: %v\n",
		up[8], truth[8], worst < 0.02)
	// Output:
	// P(spin 8 is up) = 0.4, exact 0.4; largest error of all below 0.02: true
}
