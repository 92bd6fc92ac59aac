package targets

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// TrainPCD fits the RBM to data by persistent contrastive divergence
// (Tieleman 2008): stochastic gradient ascent on the log-likelihood with the
// model's expectation taken over particles persistent Markov chains, one block
// Gibbs sweep each a step. Every step uses a random mini-batch of the data of
// the particles' number. It is meant for making realistic test targets.
func (r *RBM) TrainPCD(rng *rand.Rand, data [][]int32, particles, steps int, rate float64) error {
	err := shape("PCD", whole("rows of data", len(data), 1, maxSites), whole("particles", particles,
		1, maxSites),
		whole("steps", steps, 0, math.MaxInt32), positive("rate", rate))
	if err != nil {
		return err
	}
	for n, v := range data {
		if err := r.dom.Check(v); err != nil {
			return fmt.Errorf("data row %d: %w", n, err)
		}
	}
	chain := make([][]int32, particles)
	for p := range chain {
		chain[p] = append([]int32(nil), data[rng.IntN(len(data))]...)
	}
	gB, gC, gW := make([]float64, len(r.B)), make([]float64, len(r.C)), make([]float64, len(r.W))
	list, p := make([]int, 0, r.D), make([]float64, r.H)
	add := func(v []int32, sign float64) {
		list = r.entries(v, list)
		for _, e := range list {
			gB[e] += sign
		}
		r.Hidden(v, p)
		for j, p := range p {
			p *= sign
			gC[j] += p
			for _, e := range list {
				gW[j*len(r.B)+e] += p
			}
		}
	}
	for step := range steps {
		clear(gB)
		clear(gC)
		clear(gW)
		for p := range chain {
			add(data[rng.IntN(len(data))], 1)
			r.BlockGibbs(rng, chain[p])
			add(chain[p], -1)
		}
		eps := rate / float64(particles) * (1 - float64(step)/float64(steps))
		for i, g := range gB {
			r.B[i] += eps * g
		}
		for i, g := range gC {
			r.C[i] += eps * g
		}
		for i, g := range gW {
			r.W[i] += eps * g
		}
	}
	return nil
}
