package isinglearn

import (
	"context"
	"fmt"
	"math"
	"time"

	"infill/lab/experiments/images"
	"infill/lab/experiments/lab"
	"infill/lab/internal/adam"
	"infill/lab/targets"
	"infill/samplers"
)

// A task is what is to be learned, and how. DLP's values stand beside the fields, in brackets those
// that it does not name.
type task struct {
	side     int     // of the lattice: 25 (periodic)
	coupling float64 // σ: J is σ times the adjacency matrix: (.25)
	rows     int     // of data: 2000
	sweeps   int     // of the Gibbs sampler that makes them: 1600
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
	run, err := samplers.Start(ctx, &samplers.Gibbs{Systematic: true}, ising, x,
		samplers.Options{Seed: seed, ID: "data"})
	if err != nil {
		return nil, err
	}
	err = run.Sample(ctx, t.sweeps*n)
	return run.X, err
}

// learned is what came of it.
type learned struct {
	Iter    []float64 // iterations
	LogRMSE []float64 // log of the root mean square of Ĵ − J over all n² entries, in nats
	Seconds []float64 // of computing until then, without what the measurements take
	Chains  float64   // of all these seconds, those in which the chains moved
	mean    []float64 // of J below its diagonal over the last quarter of the iterations
}

// at is the last entry up to an iteration.
func (l *learned) at(iter int) float64 {
	last := math.NaN()
	for k, it := range l.Iter {
		if it <= float64(iter) {
			last = l.LogRMSE[k]
		}
	}
	return last
}

// until is the time at which the log RMSE was first at most a bound, NaN if it never was.
func (l *learned) until(bound float64) float64 {
	for k, v := range l.LogRMSE {
		if v <= bound {
			return l.Seconds[k]
		}
	}
	return math.NaN()
}

// total is the time of all iterations.
func (l *learned) total() float64 { return l.Seconds[len(l.Seconds)-1] }

// learn climbs the log-likelihood by persistent contrastive divergence (Tieleman 2008): the
// gradient in J_ij is the mean of s_i s_j over the data less that over the chains, which make a
// few steps on the present model in each iteration. The first mean is taken over all data: it
// never changes, so that it costs less than mini-batches, and it is made before the time begins.
func (t task) learn(ctx context.Context, s samplers.Sampler, data [][]int32, o lab.Options) (
	*learned, error) {
	all, err := t.truth()
	if err != nil {
		return nil, err
	}
	n := t.side * t.side
	truth, m := below(all, n), newModel(n)
	start := images.Random(samplers.NewStream(o.Seed, "starts", 0), t.buffer, n, 2)
	run, err := samplers.Start(ctx, s, m, start, samplers.Options{Seed: o.Seed, ID: "chains"})
	if err != nil {
		return nil, err
	}
	climb := adam.Optimiser{Rate: t.rate}
	of, grad, j := make([]float64, pairs(n)), make([]float64, pairs(n)), make([]float64, pairs(n))
	moments(data, of)
	res := &learned{mean: make([]float64, pairs(n))}
	watch, stop := o.Watch()
	defer stop()
	spent, moved := time.Duration(0), time.Duration(0)
	for it := 1; it <= t.iters; it++ {
		begin := watch()
		if err := run.Steps(ctx, t.steps, nil); err != nil {
			return nil, err
		}
		steps := watch()
		moments(run.X, grad)
		for i, v := range j {
			grad[i] = of[i] - grad[i] - t.l1*sign(v)
		}
		climb.Ascend(j, grad)
		m.set(j)
		changed := watch()
		if err := run.Retarget(ctx); err != nil {
			return nil, err
		}
		end := watch()
		spent, moved = spent+end-begin, moved+steps-begin+end-changed
		if from := t.iters * 3 / 4; it > from {
			for i, v := range j {
				res.mean[i] += (v - res.mean[i]) / float64(it-from)
			}
		}
		if it%t.every == 0 || it == t.iters {
			sq := 0.0
			for i, v := range j {
				sq += 2 * (v - truth[i]) * (v - truth[i])
			}
			res.Iter = append(res.Iter, float64(it))
			res.LogRMSE = append(res.LogRMSE, math.Log(sq/float64(n*n))/2)
			res.Seconds = append(res.Seconds, spent.Seconds())
		}
	}
	res.Chains = moved.Seconds()
	return res, nil
}

func sign(v float64) float64 {
	if v == 0 {
		return 0
	}
	return math.Copysign(1, v)
}
