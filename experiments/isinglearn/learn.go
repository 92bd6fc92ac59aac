package isinglearn

import (
	"context"
	"fmt"
	"math"

	"infill/experiments/lab"
	"infill/samplers"
	"infill/samplers/targets"
)

// A task is what is to be learned, and how. DLP's values stand beside the fields.
type task struct {
	side     int     // of the periodic lattice: 25
	coupling float64 // σ: J is σ times the adjacency matrix: .25
	rows     int     // of data: 2000
	sweeps   int     // of the Gibbs sampler that makes them: 1600
	batch    int     // rows of data per iteration: 256
	buffer   int     // persistent chains: 256
	steps    int     // of every chain per iteration: 5 to 100
	iters    int     // iterations: 10 000
	rate     float64 // of Adam: .001
	l1       float64 // factor of Σ|J_ij|, which is subtracted: .01
	every    int     // iterations from one entry of the result to the next
}

// truth is the J of the data.
func (t task) truth() ([]float64, error) {
	n := t.side * t.side
	j := make([]float64, n*n)
	for r := range t.side {
		for c := range t.side {
			i := r*t.side + c
			for _, o := range []int{(r+1)%t.side*t.side + c, r*t.side + (c+1)%t.side} {
				if o == i {
					return nil, fmt.Errorf("a lattice of side %d: want at least 2", t.side)
				}
				j[i*n+o], j[o*n+i] = t.coupling, t.coupling
			}
		}
	}
	return j, nil
}

// data draws rows from the model. DLP's chains make a million steps of a Gibbs sampler. Ours make
// fewer, and begin with all spins up or all down, at random: in the ordered phase that is where
// the two halves of the distribution are.
func (t task) data(ctx context.Context, seed uint64) ([][]int32, error) {
	ising, err := targets.NewIsing(t.side, t.side, true, t.coupling, []float64{0}, false)
	if err != nil {
		return nil, err
	}
	n := t.side * t.side
	x := make([][]int32, t.rows)
	rng := samplers.NewStream(seed, "start of data", 0)
	for k := range x {
		x[k] = make([]int32, n)
		v := int32(rng.IntN(2))
		for i := range x[k] {
			x[k][i] = v
		}
	}
	run, err := samplers.Start(ctx, &samplers.Gibbs{Scan: samplers.SystematicScan}, ising, x,
		samplers.Options{Seed: seed, ID: "data"})
	if err != nil {
		return nil, err
	}
	err = run.Sample(ctx, t.sweeps*n)
	return run.X, err
}

// learned is what came of it.
type learned struct {
	iter    []float64 // iterations
	logRMSE []float64 // log of the root mean square of Ĵ − J over all n² entries, in nats
	j       []float64
	mean    []float64 // of J over the last quarter of the iterations
}

// learn climbs the log-likelihood by persistent contrastive divergence (Tieleman 2008): the
// gradient in J_ij is the mean of s_i s_j over the data less that over the chains, which make a
// few steps on the present model in each iteration.
func (t task) learn(ctx context.Context, s samplers.Sampler, data [][]int32, seed uint64) (*learned,
	error) {
	truth, err := t.truth()
	if err != nil {
		return nil, err
	}
	n := t.side * t.side
	m := newModel(n)
	m.refresh()
	rng := samplers.NewStream(seed, "batches", 0)
	start := make([][]int32, t.buffer)
	for k := range start {
		start[k] = make([]int32, n)
		for i := range start[k] {
			start[k][i] = int32(rng.IntN(2))
		}
	}
	run, err := samplers.Start(ctx, s, m, start, samplers.Options{Seed: seed, ID: "chains"})
	if err != nil {
		return nil, err
	}
	adam := lab.Adam{Rate: t.rate}
	of, grad := make([]float64, n*n), make([]float64, n*n)
	batch := make([][]int32, t.batch)
	res := &learned{j: m.j, mean: make([]float64, n*n)}
	for it := 1; it <= t.iters; it++ {
		for k := range batch {
			batch[k] = data[rng.IntN(len(data))]
		}
		moments(batch, grad)
		if err := run.Steps(ctx, t.steps, nil); err != nil {
			return nil, err
		}
		moments(run.X, of)
		for i := range grad {
			grad[i] -= of[i] + t.l1*sign(m.j[i])
		}
		adam.Ascend(m.j, grad)
		m.refresh()
		if err := run.Retarget(ctx); err != nil {
			return nil, err
		}
		if from := t.iters * 3 / 4; it > from {
			for i, v := range m.j {
				res.mean[i] += (v - res.mean[i]) / float64(it-from)
			}
		}
		if it%t.every == 0 || it == t.iters {
			sq := 0.0
			for i, v := range m.j {
				sq += (v - truth[i]) * (v - truth[i])
			}
			res.iter = append(res.iter, float64(it))
			res.logRMSE = append(res.logRMSE, math.Log(sq/float64(n*n))/2)
		}
	}
	return res, nil
}

func sign(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}
