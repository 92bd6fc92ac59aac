package bayesnet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"infill/lab/internal/kernels"
	"infill/lab/targets"
	"infill/samplers"
)

// What chains remember changes no energy: every one that a sampler hears equals the energy from the
// rows one by one. Two runs of one posterior, step by step in turn, remember each its own, and
// their chains are bit for bit those of the runs alone.
func TestMemory(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	tiny, err := newTiny(1)
	if err != nil {
		t.Fatal(err)
	}
	rows, heard := len(tiny.in.rows), map[string]bool{}
	listed := make(map[string]float64)
	e, err := targets.Enumerate(ctx, tiny)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]int32, tiny.n.weights())
	for s := range e.P {
		e.State(s, x)
		listed[fmt.Sprint(x)] = tiny.energy(spins(x), nil, rows, each)
	}
	for _, c := range append(candidates(), candidate{"RWM", func() samplers.Sampler {
		return &kernels.RWM{Flips: 2}
	}}) {
		start := func(seed uint64) *samplers.Run {
			x0 := make([][]int32, 3)
			for k := range x0 {
				for i := range tiny.n.weights() {
					x0[k] = append(x0[k], int32(i+k)%2)
				}
			}
			run, err := samplers.Start(ctx, c.make(), tiny, x0, samplers.Options{Seed: seed,
				Evaluated: func(k int, x []int32, u float64) {
					heard[fmt.Sprint(x)] = true
					if want := listed[fmt.Sprint(x)]; math.Abs(u-want) > 1e-5 {
						t.Errorf("%s: chain %d has U = %v at %v, listed is %v", c.name, k, u, x, want)
					}
				}})
			if err != nil {
				t.Fatal(err)
			}
			return run
		}
		const steps = 300
		alone, a, b := start(1), start(1), start(2)
		if err := alone.Steps(ctx, steps, nil); err != nil {
			t.Fatal(err)
		}
		for range steps {
			if err := errors.Join(a.Step(ctx), b.Step(ctx)); err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(a.X, alone.X) || !reflect.DeepEqual(a.U, alone.U) ||
			reflect.DeepEqual(a.X, b.X) {
			t.Errorf("%s: chains at %v beside others, at %v alone", c.name, a.X, alone.X)
		}
	}
	if len(heard) < len(listed)/10 {
		t.Errorf("the samplers heard of %d of %d states", len(heard), len(listed))
	}
}
