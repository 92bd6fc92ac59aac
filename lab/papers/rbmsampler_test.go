package papers

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"infill/lab/targets"
	"infill/samplers"
)

// TestRBMGibbs holds chains of block Gibbs against enumeration, their energies against the machine's,
// and what they say of their moves against the states.
func TestRBMGibbs(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, name := range []string{"rbm", "rbm k=4"} {
		r := small()[name].(*RBM)
		e := must(targets.Enumerate(ctx, r))
		const chains, steps = 20, 2000
		starts := make([][]int32, chains)
		for k := range starts {
			starts[k] = make([]int32, r.D)
		}
		run, err := samplers.Start(ctx, RBMGibbs{}, r, starts, samplers.Options{Seed: 8, Burnin: 200})
		if err != nil {
			t.Fatal(err)
		}
		count, before, jumps := make([]float64, len(e.P)), make([][]int32, chains), 0
		err = run.Sample(ctx, steps, func(run *samplers.Run) error {
			for k, v := range run.X {
				count[e.Index(v)]++
				changed := 0
				for i, s := range before[k] {
					if s != v[i] {
						changed++
					}
				}
				if m := run.Last[k]; before[k] != nil && (m.Hamming != changed || m.Moved != (changed > 0)) {
					t.Fatalf("%s: %v to %v is a move of %+v", name, before[k], v, m)
				}
				jumps += run.Last[k].Hamming
				before[k] = slices.Clone(v)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		// TV of n independent draws is below ½ Σ √(p/n) on average; block
		// Gibbs on so small a machine is nearly independent.
		limit := 0.0
		for _, p := range e.P {
			limit += math.Sqrt(p/(chains*steps)) / 2
		}
		if tv := e.TV(count); tv > 2.5*limit {
			t.Errorf("%s: total variation %g, limit %g", name, tv, 2.5*limit)
		}
		var all samplers.Stats
		for _, s := range run.Stats {
			all.Add(s)
		}
		if all.Evals != chains*steps || all.Steps != all.Evals || all.Hamming != jumps {
			t.Errorf("%s: counts of %d steps and %d jumps are %+v", name, chains*steps, jumps, all)
		}
		u := make([]float64, chains)
		if err := errors.Join(run.Refresh(ctx), r.Energy(ctx, run.X, u)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(u, run.U) {
			t.Errorf("%s: energies %v, want %v", name, run.U, u)
		}
	}
}

// TestRBMGibbsOfAChangedMachine: after Retarget the chains sample the machine as it is now.
func TestRBMGibbsOfAChangedMachine(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, err := NewRBM(5, 2, 3, true)
	if err != nil {
		t.Fatal(err)
	}
	start := [][]int32{make([]int32, r.D)}
	run, err := samplers.Start(ctx, RBMGibbs{}, r, start, samplers.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []float64{50, -50} {
		for i := range r.B {
			r.B[i] = b
		}
		if err := errors.Join(run.Retarget(ctx), run.Step(ctx)); err != nil {
			t.Fatal(err)
		}
		want := slices.Repeat([]int32{0}, r.D)
		if b > 0 {
			want = slices.Repeat([]int32{1}, r.D)
		}
		if !slices.Equal(run.X[0], want) {
			t.Errorf("biases of %v: %v", b, run.X[0])
		}
	}
}

// TestRBMGibbsRefusesOthers: it needs a machine with hidden units.
func TestRBMGibbsRefusesOthers(t *testing.T) {
	t.Parallel()
	m := small()["peaks"]
	x := [][]int32{make([]int32, m.Domain().Len())}
	_, err := samplers.Start(context.Background(), RBMGibbs{}, m, x, samplers.Options{})
	if !errors.Is(err, samplers.ErrUnsupported) || !strings.Contains(err.Error(), "rbm-gibbs") {
		t.Errorf("error %v, want an ErrUnsupported of rbm-gibbs", err)
	}
}
