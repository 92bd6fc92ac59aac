package anneal

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"infill/samplers"
)

// separable is a target of two bits and a category, each with a cost of its own, and noise.
type separable struct {
	dom   *samplers.Domain
	cost  [][]float64
	noise float64
	temp  float64
	temps []float64 // of the estimates
}

func newSeparable(t *testing.T, noise float64) *separable {
	t.Helper()
	bit := samplers.Coord{Kind: samplers.Binary}
	d, err := samplers.NewDomain(bit, samplers.Coord{Kind: samplers.Nominal, K: 3}, bit)
	if err != nil {
		t.Fatal(err)
	}
	return &separable{dom: d, cost: [][]float64{{2, 0}, {5, 1, 3}, {0, 1}}, noise: noise, temp: 4}
}

func (s *separable) Domain() *samplers.Domain { return s.dom }

func (s *separable) Heat(f float64) { s.temp *= f }

func (s *separable) RatioKind() (ofMeans, cheap bool) { return false, true }

func (s *separable) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k, state := range x {
		u[k] = 0
		for i, v := range state {
			u[k] -= s.cost[i][v] / s.temp
		}
	}
	return nil
}

func (s *separable) EstimateRatios(_ context.Context, x [][]int32, _ int, rng []*rand.Rand,
	logRatio, _ [][]float64) error {
	s.temps = append(s.temps, s.temp)
	for k, state := range x {
		for i, v := range state {
			at := s.dom.GradOffset(i)
			width := s.dom.K(i)
			if s.dom.Coord(i).Kind == samplers.Binary {
				width = 1
			}
			for w := range width {
				to := int32(w)
				if width == 1 {
					to = 1 - v
				}
				logRatio[k][at+w] = (s.cost[i][v] - s.cost[i][to] + s.noise*rng[k].NormFloat64()) / s.temp
			}
		}
	}
	return nil
}

// Local search goes to the best neighbour first, and stays at the optimum. With noise the cache
// brings it there all the same.
func TestDescend(t *testing.T) {
	t.Parallel()
	x := [][]int32{{0, 0, 1}, {1, 1, 0}}
	var path [][]int32
	err := Descend(context.Background(), newSeparable(t, 0), x, 1, 5, samplers.Options{},
		func(step int, x [][]int32) {
			if step != len(path) {
				t.Errorf("step %d seen after %d", step, len(path))
			}
			path = append(path, slices.Clone(x[0]))
		})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]int32{{0, 0, 1}, {0, 1, 1}, {1, 1, 1}, {1, 1, 0}, {1, 1, 0}, {1, 1, 0}}
	if !slices.EqualFunc(path, want, slices.Equal) || !slices.Equal(x[1], []int32{1, 1, 0}) {
		t.Errorf("path %v, want %v, and the other chain ends at %v", path, want, x[1])
	}
	optimum := 0.0
	const chains = 200
	x = make([][]int32, chains)
	for k := range x {
		x[k] = []int32{0, 0, 1}
	}
	if err := Descend(context.Background(), newSeparable(t, .3), x, 1, 40, samplers.Options{}, nil); err != nil {
		t.Fatal(err)
	}
	for _, s := range x {
		if slices.Equal(s, []int32{1, 1, 0}) {
			optimum++
		}
	}
	if optimum < .9*chains {
		t.Errorf("%v of %d chains end at the optimum", optimum, chains)
	}
}

// Each step of SGDLD is made at its temperature, and the chain ends at the optimum when that is low.
func TestSample(t *testing.T) {
	t.Parallel()
	s := newSeparable(t, .1)
	x := make([][]int32, 50)
	for k := range x {
		x[k] = []int32{0, 0, 1}
	}
	const steps, cooling = 60, .9
	last, err := Sample(context.Background(), &samplers.SGDLD{Time: .5}, s, x, steps, cooling,
		samplers.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	// One estimate at the start, and one at the end of each step.
	for i, got := range s.temps {
		if want := 4 * math.Pow(cooling, float64(max(0, i-1))); math.Abs(got/want-1) > 1e-12 {
			t.Fatalf("estimate %d is made at %v, want %v", i, got, want)
		}
	}
	if len(s.temps) != steps+1 {
		t.Errorf("%d estimates in %d steps", len(s.temps), steps)
	}
	optimum := 0
	for _, state := range last {
		if slices.Equal(state, []int32{1, 1, 0}) {
			optimum++
		}
	}
	if optimum < 35 {
		t.Errorf("%d of 50 chains end at the optimum", optimum)
	}
	if !slices.Equal(x[0], []int32{0, 0, 1}) {
		t.Error("the starts were changed")
	}
}
