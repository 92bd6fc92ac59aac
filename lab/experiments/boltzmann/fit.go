// Package boltzmann fits restricted Boltzmann machines and estimates their normalisers, for
// several experiments.
package boltzmann

import (
	"context"
	"fmt"
	"math"

	"infill/lab/experiments/contrast"
	"infill/lab/experiments/images"
	"infill/lab/internal/adam"
	"infill/lab/internal/check"
	"infill/lab/papers"
	"infill/samplers"
)

// New makes a machine for images: biases of visible units that give their pixels' frequencies,
// weights from N(0, .05²), hidden biases of 0.
func New(set *images.Set, hidden int, seed uint64) (*papers.RBM, error) {
	r, err := papers.NewRBM(set.Side*set.Side, set.Levels, hidden, set.Levels == 2)
	if err != nil {
		return nil, err
	}
	r.Randomise(samplers.NewStream(seed, "weights", 0), 0.05, 0)
	copy(r.B, Base(r, set.Train))
	return r, nil
}

// Base are biases in the layout of RBM.B with which visible units, alone, have the frequencies that
// they have in the data.
func Base(r *papers.RBM, data [][]int32) []float64 {
	b := make([]float64, 0, len(r.B))
	for _, p := range images.Shares(data, r.K) {
		if r.Domain().Coord(0).Kind == samplers.Binary { // 0 has no entry
			b = append(b, math.Log(p[1]/p[0]))
			continue
		}
		for _, v := range p {
			b = append(b, math.Log(v))
		}
	}
	return b
}

// LogZ estimates a machine's log Z by annealed importance sampling with block Gibbs, as ACS's
// appendix D.4 does, in rungs steps of β. Chains begin with independent pixels that have the
// frequencies of the data.
func LogZ(ctx context.Context, r *papers.RBM, data [][]int32, chains, rungs int, seed uint64) (
	*papers.AnnealedZ, error) {
	logq := images.Shares(data, r.K)
	for _, q := range logq {
		for v := range q {
			q[v] = math.Log(q[v])
		}
	}
	return r.AnnealedLogZ(ctx, logq, chains, rungs, seed)
}

// Fit says how a machine is fitted.
type Fit struct {
	Iters int     // iterations
	Batch int     // images in a mini-batch
	Rate  float64 // of Adam
	Seed  uint64  // with the data, decides all that is drawn
}

// Learn climbs the log-likelihood of data. Its gradient is a mean over the data less one over the
// model, and neg makes the states for the second.
func (f Fit) Learn(ctx context.Context, r *papers.RBM, data [][]int32,
	neg contrast.Negative) error {
	if len(data) == 0 || f.Batch < 1 {
		return fmt.Errorf("%w: %d images and mini-batches of %d", check.ErrShape, len(data), f.Batch)
	}
	rng := samplers.NewStream(f.Seed, "batches", 0)
	batch := make([][]int32, f.Batch)
	gb, gc, gw := make([]float64, len(r.B)), make([]float64, len(r.C)), make([]float64, len(r.W))
	var b, c, w adam.Optimiser
	b.Rate, c.Rate, w.Rate = f.Rate, f.Rate, f.Rate
	for it := range f.Iters {
		if err := ctx.Err(); err != nil {
			return err
		}
		for k := range batch {
			batch[k] = data[rng.IntN(len(data))]
		}
		x, err := neg(ctx, it, batch)
		if err != nil {
			return err
		}
		clear(gb)
		clear(gc)
		clear(gw)
		r.AddParameterGradient(batch, 1/float64(len(batch)), gb, gc, gw)
		r.AddParameterGradient(x, -1/float64(len(x)), gb, gc, gw)
		b.Ascend(r.B, gb)
		c.Ascend(r.C, gc)
		w.Ascend(r.W, gw)
	}
	return nil
}

// Divergence is contrastive divergence (Hinton 2002): sweeps of block Gibbs from the mini-batch.
func Divergence(r *papers.RBM, sweeps int, seed uint64) contrast.Negative {
	return func(ctx context.Context, it int, batch [][]int32) ([][]int32, error) {
		return Sweep(ctx, r, batch, sweeps,
			samplers.Options{Seed: seed, ID: "CD", First: it * len(batch)})
	}
}

// Sweep returns what sweeps of block Gibbs make of the states x.
func Sweep(ctx context.Context, r *papers.RBM, x [][]int32, sweeps int, o samplers.Options) (
	[][]int32, error) {
	run, err := samplers.Start(ctx, papers.RBMGibbs{}, r, x, o)
	if err != nil {
		return nil, err
	}
	err = run.Steps(ctx, sweeps, nil)
	return run.X, err
}

// LogLikelihood is the mean log-probability of images, in nats, given the machine's log Z.
func LogLikelihood(ctx context.Context, r *papers.RBM, x [][]int32, logZ float64) (float64,
	error) {
	u := make([]float64, len(x))
	if err := r.Energy(ctx, x, u); err != nil {
		return 0, err
	}
	sum := 0.0
	for _, v := range u {
		sum += v - logZ
	}
	return sum / float64(len(x)), nil
}
