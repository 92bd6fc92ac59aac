package samplers_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"slices"

	"infill/samplers"
)

// A new target: a necklace of beads of several colours in which equal neighbours
// cost 1 each, U(θ) = −Σ_i 1[θ_i = θ_{i+1}], the last bead next to the first.
type necklace struct{ dom *samplers.Domain }

func (n necklace) Domain() *samplers.Domain { return n.dom }

func (n necklace) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k, beads := range x {
		u[k] = 0
		for i, c := range beads {
			if c == beads[(i+1)%len(beads)] {
				u[k]--
			}
		}
	}
	return nil
}

// EnergyGrad is optional. Most samplers of this package need it. The entry of
// bead i and colour v is what that colour would cost there.
func (n necklace) EnergyGrad(
	ctx context.Context, x [][]int32, u []float64, grad [][]float64,
) error {
	for k, beads := range x {
		clear(grad[k])
		for i := range beads {
			next := (i + 1) % len(beads)
			grad[k][n.dom.GradOffset(i)+int(beads[next])]--
			grad[k][n.dom.GradOffset(next)+int(beads[i])]--
		}
	}
	return n.Energy(ctx, x, u)
}

// A target of one's own: an energy on a Domain and, for samplers that use it, the
// gradient. Its mean energy is known in closed form, from the partition function
// Z(t) = (k−1+t)^n + (k−1)(t−1)^n at t = 1/e.
func ExampleTarget() {
	ctx := context.Background()
	const beads, colours = 12, 3
	domain, err := samplers.NewDomain(slices.Repeat([]samplers.Coord{{K: colours}}, beads)...)
	if err != nil {
		log.Fatal(err)
	}
	target := necklace{domain}
	run, err := samplers.Start(ctx, &samplers.DMALA{}, target,
		[][]int32{make([]int32, beads), make([]int32, beads)}, samplers.Options{Seed: 1, Burnin: 500})
	if err != nil {
		log.Fatal(err)
	}
	mean := 0.0
	if err := run.Sample(ctx, 20000, func(r *samplers.Run) error {
		mean += (r.U[0] + r.U[1]) / (2 * 20000)
		return nil
	}); err != nil {
		log.Fatal(err)
	}
	z := func(t float64) float64 {
		return math.Pow(colours-1+t, beads) + (colours-1)*math.Pow(t-1, beads)
	}
	const t, h = 1 / math.E, 1e-6
	exact := -t * (math.Log(z(t+h)) - math.Log(z(t-h))) / (2 * h)
	fmt.Printf("mean energy %.1f, exact %.1f\n", mean, exact)
	// Output:
	// mean energy -1.9, exact -1.9
}
