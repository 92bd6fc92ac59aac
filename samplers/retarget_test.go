package samplers

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// changing is a target whose table is exchanged in the middle of a run.
type changing struct{ *tableTarget }

// changedTables are two targets on the same states.
func changedTables() (a, b *tableTarget) {
	d := Categories(2, 3)
	return newTable(rand.New(rand.NewPCG(3, 1)), d, 1.5, 0.5),
		newTable(rand.New(rand.NewPCG(4, 1)), d, 1.5, 0.5)
}

// fixed is a registered sampler with nothing that depends on where it began.
func fixed(t *testing.T, name string) Sampler {
	t.Helper()
	params := map[string]string{}
	if name == "dlmc" {
		params["time"] = "0.5"
	}
	s, err := New(name, params)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// restartStreams gives a run the streams of a fresh one.
func restartStreams(r *Run) {
	for k := range r.RNG {
		r.RNG[k] = NewStream(99, "again", k)
	}
}

// After a change of the target every registered sampler makes the steps that a run makes which
// begins at its states. Without Retarget those do not that keep something of the target.
func TestRetargetIsAFreshRun(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	keepNothing := []string{"gibbs"}
	for _, info := range List() {
		for _, told := range []bool{true, false} {
			a, b := changedTables()
			target := &changing{a}
			x0 := make([][]int32, 50)
			for k := range x0 {
				x0[k] = a.states[k%len(a.states)]
			}
			run, err := Start(ctx, fixed(t, info.Name), target, x0, Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if err := run.Steps(ctx, 7, nil); err != nil {
				t.Fatal(err)
			}
			target.tableTarget = b
			restartStreams(run)
			fresh, err := Start(ctx, fixed(t, info.Name), b, run.X,
				Options{Seed: 99, ID: "again"})
			if err != nil {
				t.Fatal(err)
			}
			fresh.done = run.done
			if told {
				if err := run.Retarget(ctx); err != nil {
					t.Fatal(info.Name, err)
				}
			}
			same := true
			for range 10 {
				if err := errors.Join(run.Step(ctx), fresh.Step(ctx)); err != nil {
					t.Fatal(err)
				}
				for k := range run.X {
					same = same && slices.Equal(run.X[k], fresh.X[k])
					if u, f := run.U[k], fresh.U[k]; told && u != f && !(math.IsNaN(u) && math.IsNaN(f)) {
						t.Fatalf("%s: U is %v, in a fresh run %v", info.Name, u, f)
					}
				}
			}
			if want := told || slices.Contains(keepNothing, info.Name); same != want {
				t.Errorf("%s, told of the change: %v: the steps of a fresh run: %v", info.Name, told, same)
			}
		}
	}
}

// Chains that have the distribution of the new target when it changes, whatever their kernels know of
// the old one, keep it.
func TestRetargetLeavesTheNewTargetInvariant(t *testing.T) {
	t.Parallel()
	for _, info := range List() {
		if !info.Exact {
			continue
		}
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			if x := chiSquareAfter(t, info.Name, true); x > 40 { // 8 degrees of freedom: p < 4e−6
				t.Errorf("χ² is %.1f", x)
			}
		})
	}
	for _, name := range []string{"rows", "dmala", "gwg", "gibbs-mh"} {
		if x := chiSquareAfter(t, name, false); x < 80 {
			t.Errorf("%s is not told of the change, and χ² is %.1f", name, x)
		}
	}
}

// chiSquareAfter is the chi-square of 6000 chains, four steps after the change.
func chiSquareAfter(t *testing.T, name string, told bool) float64 {
	t.Helper()
	ctx := context.Background()
	a, b := changedTables()
	rng := rand.New(rand.NewPCG(8, 8))
	x0 := make([][]int32, 6000)
	for k := range x0 {
		f, s := rng.Float64(), 0
		for f -= b.pi(0); f > 0 && s < len(b.states)-1; f -= b.pi(s) {
			s++
		}
		x0[k] = b.states[s]
	}
	target := &changing{a}
	run, err := Start(ctx, fixed(t, name), target, x0, Options{Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	target.tableTarget = b
	if told {
		if err := run.Retarget(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := run.Steps(ctx, 4, nil); err != nil {
		t.Fatal(err)
	}
	count := make([]float64, len(b.states))
	for _, x := range run.X {
		count[b.index(x)]++
	}
	sum := 0.0
	for s, n := range count {
		want := float64(len(x0)) * b.pi(s)
		sum += (n - want) * (n - want) / want
	}
	return sum
}
