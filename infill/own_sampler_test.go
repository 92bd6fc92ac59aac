package infill

import (
	"context"
	"math/rand/v2"

	"infill/samplers"
)

// randomWalk is a sampler that package samplers does not have: it gives a random coordinate a random
// value, without gradients or rows.
type randomWalk struct{}

func (randomWalk) Info() samplers.Info {
	return samplers.Info{Name: "random-walk", Exact: true, Corrected: true,
		Needs: []samplers.Need{samplers.NeedEnergies}}
}

func (randomWalk) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	return samplers.NewMH(c, walkProposal{c.Domain}, samplers.MHOptions{})
}

type walkProposal struct{ *samplers.Domain }

func (p walkProposal) Propose(_ int, x []int32, _ []float64, rng *rand.Rand, y []int32) float64 {
	i := rng.IntN(len(x))
	y[i] = p.Random(rng)[i]
	return 0
}

func (walkProposal) Reverse(int, []int32, []int32, []float64) float64 { return 0 }

// curious is a sampler that asks for many energies in a step and stays where it is.
type curious struct{ asks int }

func (curious) Info() samplers.Info { return samplers.Info{Name: "curious"} }

func (s curious) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	return &curiousKernel{c, s.asks}, nil
}

type curiousKernel struct {
	c    *samplers.Chains
	asks int
}

func (k *curiousKernel) Prepare(ctx context.Context) error { return k.c.StartEnergies(ctx) }

func (k *curiousKernel) Step(ctx context.Context) error {
	for chain, rng := range k.c.RNG {
		x, who := k.c.Domain.Randoms(rng, k.asks), make([]int, k.asks)
		for j := range who {
			who[j] = chain
		}
		if err := k.c.Evaluate(ctx, who, x, make([]float64, k.asks), nil); err != nil {
			return err
		}
	}
	return nil
}
