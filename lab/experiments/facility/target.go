package facility

import (
	"context"
	"math/rand/v2"

	"infill/samplers"
)

// target is π(x, y) ∝ exp(−E f/τ) (equation 19). A state has a bit for each site and a category,
// its site, for each customer.
type target struct {
	in   *Instance
	tau  float64
	dom  *samplers.Domain
	ship [][]float64 // c_ij by customer and then by site

	demand      []float64
	slack, over []float64 // of each site: its free capacity, and what it pays for outsourcing
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
	ship := make([][]float64, len(in.Mean))
	for j := range ship {
		for i := range sites {
			ship[j] = append(ship[j], in.Ship[i][j])
		}
	}
	return &target{in: in, tau: tau, dom: dom, ship: ship, demand: make([]float64, len(in.Mean)),
		slack: make([]float64, sites), over: make([]float64, sites)}, err
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

// EstimateRatios implements samplers.RatioEstimator with batch draws of all demands.
func (t *target) EstimateRatios(_ context.Context, x [][]int32, batch int, rng []*rand.Rand,
	logRatio, _ [][]float64) error {
	for k, s := range x {
		clear(logRatio[k])
		for range batch {
			t.in.demands(rng[k], t.demand)
			t.differences(s, t.demand, -1/(t.tau*float64(batch)), logRatio[k])
		}
	}
	return nil
}

// RatioKind implements samplers.RatioEstimator. A neighbour takes a few additions.
func (t *target) RatioKind() (ofMeans, cheap bool) { return false, true }

// differences adds scale·(f(neighbour) − f(plan)) of all neighbours to out, for demands d, in the
// layout of a gradient.
func (t *target) differences(plan []int32, d []float64, scale float64, out []float64) {
	in := t.in
	open, site := in.split(plan)
	for i := range open {
		t.slack[i] = in.capacity(i, open)
	}
	for j, i := range site {
		t.slack[i] -= d[j]
	}
	for i, y := range open {
		t.over[i] = in.Outsource[i] * max(0, -t.slack[i])
		load := in.capacity(i, open) - t.slack[i]
		change := in.Open[i] + in.Outsource[i]*(max(0, load-float64(in.Capacity[i]))-load)
		out[i] += scale * change * float64(1-2*y)
	}
	for j, a := range site {
		q := d[j]
		if q == 0 { // wherever nothing goes, it costs nothing
			continue
		}
		ship := t.ship[j]
		leave := in.Outsource[a]*max(0, -t.slack[a]-q) - t.over[a] - q*ship[a]
		o := t.dom.GradOffset(len(open) + j)
		row := out[o : o+len(ship)]
		stays := row[a]
		slack, over, rate := t.slack[:len(ship)], t.over[:len(ship)], in.Outsource[:len(ship)]
		for i, c := range ship { // all of the time goes here
			change := leave + q*c - over[i]
			if more := q - slack[i]; more > 0 {
				change += rate[i] * more
			}
			row[i] += scale * change
		}
		row[a] = stays
	}
}
