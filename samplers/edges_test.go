package samplers

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// level is a flat target with gradients.
type level struct{ flat }

func (l level) EnergyGrad(ctx context.Context, x [][]int32, u []float64, g [][]float64) error {
	for k := range g {
		clear(g[k])
	}
	return l.Energy(ctx, x, u)
}

// An automatic step size is not held below its start by one coordinate that is finer than the
// others, or by the fine steps of many values, and a coordinate that cannot move says nothing.
func TestStepOfMixedScales(t *testing.T) {
	t.Parallel()
	bit := Coord{Kind: Binary, K: 2, Step: 1}
	fine := append(repeat(99, bit), Coord{Kind: Ordinal, K: 100, Step: .001})
	still := append(repeat(4, bit), Coord{Kind: Ordinal, K: 2, Step: 1e-6, Allowed: []bool{true, false}})
	for name, coords := range map[string][]Coord{
		"one fine": fine, "many values": repeat(2, Coord{Kind: Ordinal, K: 450, Step: .1}),
	} {
		d := mustDomain(coords)
		run, err := Start(t.Context(), &DMALA{}, level{flat{d}}, [][]int32{make([]int32, d.Len())},
			Options{Seed: 1, Burnin: 200})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Steps(t.Context(), 200, nil); err != nil {
			t.Fatal(err)
		}
		if got := run.Tuning(0)["step-size"]; got < startStep(d) {
			t.Errorf("%s: everything was accepted, and the step went from %g to %g", name, startStep(d), got)
		}
	}
	if d := mustDomain(still); d.minD2 != 1 {
		t.Errorf("the smallest move has a squared distance of %g, want 1", d.minD2)
	}
	if d := mustDomain(still[4:]); d.minD2 != 2 {
		t.Errorf("without a move the squared distance is %g, want 2", d.minD2)
	}
}

// Far below a rate of 1e-12 no set of coordinates would be drawn.
func TestLeastRate(t *testing.T) {
	t.Parallel()
	tab := newTable(rand.New(rand.NewPCG(3, 1)), Bits(3), .5, 0)
	x0 := [][]int32{{0, 0, 0}}
	for _, rate := range []float64{1e-13, 1e-300} {
		if _, err := Start(t.Context(), &Rows{Rate: rate}, tab, x0, Options{}); !errors.Is(err, ErrParam) {
			t.Errorf("a rate of %g: %v", rate, err)
		}
	}
	run, err := Start(t.Context(), &Rows{Rate: leastRate}, tab, x0, Options{Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	first := [3]int{}
	for range 3000 {
		before := append([]int32(nil), run.X[0]...)
		if err := run.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, v := range run.X[0] {
			if v != before[i] {
				first[i]++
			}
		}
	}
	for i, n := range first {
		if n < 200 {
			t.Errorf("coordinate %d changed %d times in 3000 steps: %v", i, n, first)
		}
	}
}

// A state whose neighbours all have probability zero is one that no chain leaves. It has its weight
// where that is given, and none where Polyak's step would be infinite. Nothing of it is an error.
func TestSGDLDIsolated(t *testing.T) {
	t.Parallel()
	target := &noisyField{flat: flat{Bits(2)}, field: []float64{math.Inf(-1), math.Inf(-1)}, temp: 1,
		quiet: true}
	for time, want := range map[float64]float64{0: math.Inf(-1), .5: math.Log(.5)} {
		run, err := Start(t.Context(), &SGDLD{Rates: ratioRates, Time: time}, target, [][]int32{{0, 0}},
			Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Steps(t.Context(), 50, nil); err != nil {
			t.Fatal(err)
		}
		st := run.Stats[0]
		if st.NonFinite != 0 || st.Moved != 0 || run.LogWeight[0] != want || run.X[0][0] != 0 {
			t.Errorf("time %g: %+v, log weight %g, want %g", time, st, run.LogWeight[0], want)
		}
	}
}
