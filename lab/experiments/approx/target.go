package approx

import (
	"context"
	"math"
	"math/rand/v2"

	"infill/lab/internal/domain"
	"infill/samplers"
)

// target is π ∝ exp(−E f/τ) (equation 20) over the places of k approximate units. A state has the
// node of each unit, and no node has two: such states have probability 0. So the neighbours of a
// state are the k(15−k) moves of a unit to a node without one. The k! states of a set have the same
// rates to the states of every other set, so the sets that a chain visits are a chain too.
type target struct {
	g     graph
	tau   float64
	dom   *samplers.Domain
	draws []draw // that Energy's mean is over
}

func newTarget(g graph, k int, tau float64) *target {
	return &target{g: g, tau: tau, dom: domain.Categories(k, nodes)}
}

// units is the set of a state, and whether it has no node twice.
func units(x []int32) (set uint32, ok bool) {
	for _, v := range x {
		if set>>v&1 != 0 {
			return set, false
		}
		set |= 1 << v
	}
	return set, true
}

// Domain implements samplers.Target.
func (t *target) Domain() *samplers.Domain { return t.dom }

// Heat implements anneal.Target.
func (t *target) Heat(f float64) { t.tau *= f }

// Energy implements samplers.Target, with the mean over t.draws.
func (t *target) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k, s := range x {
		set, ok := units(s)
		if !ok {
			u[k] = math.Inf(-1)
			continue
		}
		u[k] = -t.g.errors(t.draws, []uint32{set})[0] / t.tau
	}
	return nil
}

// EstimateRatios implements samplers.RatioEstimator with batch draws of inputs and errors,
// the same for all neighbours.
func (t *target) EstimateRatios(_ context.Context, x [][]int32, batch int, rng []*rand.Rand,
	logRatio, _ [][]float64) error {
	var d draw
	var all, rest [nodes]float64 // values with all units, and without one of them
	for k, s := range x {
		set, _ := units(s)
		clear(logRatio[k])
		for range batch {
			d.fill(rng[k])
			exact := t.g.run(&d, 0)
			here := relative(t.g.values(&d, set, &all), exact)
			for c, from := range s {
				without := set &^ (1 << from)
				rest = all
				for i := int(from); ; i = (i - 1) / 2 { // it and the nodes above it
					rest[i] = t.g.node(i, &d, without, &rest)
					if i == 0 {
						break
					}
				}
				for v := range int32(nodes) {
					at := t.dom.GradOffset(c) + int(v)
					switch {
					case v == from:
					case set>>v&1 != 0:
						logRatio[k][at] = math.Inf(-1)
					default:
						f := relative(t.g.change(int(v), &d, without|1<<v, &rest), exact)
						logRatio[k][at] += (here - f) / (t.tau * float64(batch))
					}
				}
			}
		}
	}
	return nil
}

// RatioKind implements samplers.RatioEstimator.
func (t *target) RatioKind() (ofMeans, cheap bool) { return false, true }
