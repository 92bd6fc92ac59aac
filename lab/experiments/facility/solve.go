package facility

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"infill/lab/experiments/anneal"
	"infill/lab/experiments/lab"
	"infill/lab/internal/fanout"
	"infill/samplers"
)

// A method looks for a cheap plan.
type method int

const (
	withCache method = iota
	withoutCache
	localSearch
	methods
)

var methodNames = [methods]string{"SGDLD", "SGDLD-noC", "SLS"}

// settings of a search: those of appendix C.3, but for the sizes.
type settings struct {
	sites, customers int
	lots             int // see Instance
	instances        int
	chains, steps    int
	tau              float64 // of the first step; that of step t is tau·0.999^t
	minJump          float64 // below which h_t does not fall
	judges           int     // demands by which the best chain is chosen
}

const cooling = 0.999

// A found plan is the best of all chains, with what it took.
type found struct {
	Plan []int32
	Cost float64   // exact mean
	Path []float64 // exact mean over the chains, every pathEvery steps and at the end
	// Seconds of computing of all chains and of the choice among them, without that of Path.
	Seconds float64
}

const pathEvery = 100

// search runs all chains of a method and chooses the plan that is cheapest on common demands.
func (s settings) search(ctx context.Context, in *Instance, m method, o lab.Options,
) (*found, error) {
	plans := make([][]int32, s.chains)
	paths, times := make([][]float64, s.chains), make([]time.Duration, s.chains)
	id := fmt.Sprintf("facility %d×%d %s", s.sites, s.customers, methodNames[m])
	if s.lots > 0 {
		id += fmt.Sprintf(" lots %d", s.lots)
	}
	err := fanout.Each(o.Threads, s.chains, func(k int) error {
		t, err := newTarget(in, s.tau)
		if err != nil {
			return err
		}
		x := t.dom.Randoms(samplers.NewStream(o.Seed, id+" start", k), 1)
		watch, stop := o.Watch()
		defer stop()
		paths[k], times[k], err = s.walk(ctx, t, x, m, samplers.Options{Seed: o.Seed, ID: id, First: k},
			watch)
		plans[k] = x[0]
		return err
	})
	if err != nil {
		return nil, err
	}
	f := &found{Path: make([]float64, len(paths[0]))}
	for k, p := range paths {
		f.Seconds += times[k].Seconds()
		for i, v := range p {
			f.Path[i] += v / float64(s.chains)
		}
	}
	watch, stop := o.Watch()
	defer stop()
	begin := watch()
	f.Plan = in.cheapest(plans, s.judges, samplers.NewStream(o.Seed, id+" judges", 0))
	f.Seconds += (watch() - begin).Seconds()
	f.Cost = in.Expected(f.Plan)
	return f, nil
}

// walk makes all steps of a method and leaves the last states in x. It returns the sum of the mean
// costs of the chains, every pathEvery steps and at the end, and the time of all else.
func (s settings) walk(ctx context.Context, t *target, x [][]int32, m method, o samplers.Options,
	watch func() time.Duration) (path []float64, spent time.Duration, err error) {
	begin := watch()
	visit := func(step int, x [][]int32) {
		if step%pathEvery == 0 || step == s.steps {
			from := watch()
			path = append(path, t.in.sum(x))
			spent -= watch() - from
		}
	}
	if m == localSearch {
		err = anneal.Descend(ctx, t, x, 1, s.steps, o, visit)
		return path, spent + watch() - begin, err
	}
	// h_t = √(1000/(100+t)) (appendix C), and mini-batches of one.
	sampler := &samplers.SGDLD{JumpScale: math.Sqrt(1000), JumpDelay: 100, MinJump: s.minJump,
		NoCache: m == withoutCache}
	last, err := anneal.Sample(ctx, sampler, t, x, s.steps, cooling, o, visit)
	copy(x, last)
	return path, spent + watch() - begin, err
}

// sum is the sum of the mean costs of plans.
func (in *Instance) sum(plans [][]int32) float64 {
	c := 0.0
	for _, p := range plans {
		c += in.Expected(p)
	}
	return c
}

// cheapest is the plan with the lowest cost on the average of n common demands.
func (in *Instance) cheapest(plans [][]int32, n int, rng *rand.Rand) []int32 {
	cost, d := make([]float64, len(plans)), make([]float64, len(in.Mean))
	for range n {
		in.demands(rng, d)
		for k, p := range plans {
			cost[k] += in.Cost(p, d)
		}
	}
	best := 0
	for k, c := range cost {
		if c < cost[best] {
			best = k
		}
	}
	return plans[best]
}
