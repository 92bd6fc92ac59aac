package bayesnet

import (
	"context"
	"fmt"
	"math"

	"infill/lab/internal/kernels"
	"infill/samplers"
)

// stepSize is α of DULA and DMALA in DLP's appendix I.5.
const stepSize = 0.1

// A task is what all samplers have to do.
type task struct {
	train, test *inputs
	folded      *folded // train
	net         network
	scale       float64
	chains      int
	steps       int
	every       int // steps between points of the chart
}

// A result is what a sampler reaches.
type result struct {
	// Of the last states: the mean of −(f − y)² over chains and rows, the paper's log-likelihood.
	trainLL, testLL float64
	// The root mean square error of the mean output of the chains.
	trainRMSE, testRMSE float64
	step, ll            []float64 // the mean of U/scale over the chains, for the chart
}

// learn runs the chains of a sampler from random weights. A seed has the same starts for all
// samplers.
func (t task) learn(ctx context.Context, s samplers.Sampler, seed uint64, id string,
) (*result, error) {
	target := newPosterior(t.net, t.train, t.folded, t.scale)
	x := make([][]int32, t.chains)
	for k := range x {
		x[k] = target.dom.Random(samplers.NewStream(seed, "bayesnet start", k))
	}
	run, err := samplers.Start(ctx, s, target, x, samplers.Options{Seed: seed, ID: id})
	if err != nil {
		return nil, err
	}
	res := &result{}
	mark := func(r *samplers.Run) error {
		if r.Done()%t.every != 0 {
			return nil
		}
		if err := r.Refresh(ctx); err != nil {
			return err
		}
		sum := 0.0
		for _, u := range r.U {
			sum += u / t.scale / float64(t.chains)
		}
		res.step, res.ll = append(res.step, float64(r.Done())), append(res.ll, sum)
		return nil
	}
	if err := mark(run); err != nil {
		return nil, err
	}
	if err := run.Steps(ctx, t.steps, mark); err != nil {
		return nil, err
	}
	res.trainLL, res.trainRMSE = t.net.judge(t.train, run.X)
	res.testLL, res.testRMSE = t.net.judge(t.test, run.X)
	return res, nil
}

// judge is the mean of −(f − y)² over weights and rows, and the error of the mean output.
func (n network) judge(in *inputs, x [][]int32) (ll, rmse float64) {
	mean := make([]float64, len(in.rows))
	for _, s := range x {
		p := n.at(in, spins(s))
		for r, y := range in.y {
			f := p.row(r)
			mean[r] += f / float64(len(x))
			ll -= (f - y) * (f - y)
		}
	}
	sq := 0.0
	for r, y := range in.y {
		sq += (mean[r] - y) * (mean[r] - y)
	}
	return ll / float64(len(in.rows)*len(x)), math.Sqrt(sq / float64(len(in.rows)))
}

// A candidate is a sampler with the name of its column.
type candidate struct {
	name string
	make func() samplers.Sampler
}

func candidates() []candidate {
	return []candidate{
		{"Gibbs", func() samplers.Sampler { return &kernels.ExactGibbs{} }},
		{"GWG", func() samplers.Sampler { return &samplers.GWG{} }},
		{"DULA", func() samplers.Sampler { return &samplers.DULA{StepSize: stepSize} }},
		{"DMALA", func() samplers.Sampler { return &samplers.DMALA{StepSize: stepSize} }},
	}
}

// batches are the sizes of batches in DLP's table 4.
var batches = []int{10, 100, 500}

func stochastic() []candidate {
	var c []candidate
	for _, b := range batches {
		c = append(c, candidate{fmt.Sprint("batch ", b), func() samplers.Sampler {
			return &samplers.DULA{StepSize: stepSize, Batch: b}
		}})
	}
	return c
}
