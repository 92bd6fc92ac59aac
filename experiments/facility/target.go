package facility

import (
	"context"
	"math"
	"math/rand/v2"

	"infill/samplers"
)

// target is π(x, y) ∝ exp(−E f/τ) (equation 19). A state has a bit for each site and a category,
// its site, for each customer.
type target struct {
	in  *Instance
	tau float64
	dom *samplers.Domain

	demand, load []float64
}

func newTarget(in *Instance, tau float64) (*target, error) {
	sites := len(in.Open)
	var coords []samplers.Coord
	for range sites {
		coords = append(coords, samplers.Coord{Kind: samplers.Binary})
	}
	for range in.Mean {
		coords = append(coords, samplers.Coord{Kind: samplers.Nominal, K: sites})
	}
	dom, err := samplers.NewDomain(coords...)
	return &target{in, tau, dom, make([]float64, len(in.Mean)), make([]float64, sites)}, err
}

// Domain implements samplers.Target.
func (t *target) Domain() *samplers.Domain { return t.dom }

// Heat implements anneal.Target.
func (t *target) Heat(f float64) { t.tau *= f }

// Energy implements samplers.Target, with the exact mean.
func (t *target) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k, s := range x {
		u[k] = -t.in.Expected(s) / t.tau
	}
	return nil
}

// EstimateNeighbours implements samplers.NeighbourEstimator with batch draws of all demands.
func (t *target) EstimateNeighbours(_ context.Context, x [][]int32, batch int, rng []*rand.Rand,
	logRatio [][]float64) error {
	for k, s := range x {
		clear(logRatio[k])
		for range batch {
			t.in.demands(rng[k], t.demand)
			t.differences(s, t.demand, -1/(t.tau*float64(batch)), logRatio[k])
		}
	}
	return nil
}

// AffordsNeighbours implements samplers.NeighbourEstimator. A neighbour takes a few additions.
func (t *target) AffordsNeighbours() bool { return true }

// differences adds scale·(f(neighbour) − f(plan)) of all neighbours to out, for demands d, in the
// layout of a gradient.
func (t *target) differences(plan []int32, d []float64, scale float64, out []float64) {
	in := t.in
	open, site := in.split(plan)
	clear(t.load)
	for j, i := range site {
		t.load[i] += d[j]
	}
	over := func(i int32, load float64) float64 {
		return in.Outsource[i] * math.Max(0, load-in.capacity(int(i), open))
	}
	for i, y := range open {
		load, k := t.load[i], float64(in.Capacity[i])
		change := in.Open[i] + in.Outsource[i]*(math.Max(0, load-k)-load)
		out[i] += scale * change * float64(1-2*y)
	}
	for j, a := range site {
		o := t.dom.GradOffset(len(open) + j)
		leave := over(a, t.load[a]-d[j]) - over(a, t.load[a]) - d[j]*in.Ship[a][j]
		for i := range int32(len(open)) {
			if i != a {
				out[o+int(i)] += scale *
					(leave + over(i, t.load[i]+d[j]) - over(i, t.load[i]) + d[j]*in.Ship[i][j])
			}
		}
	}
}
