package samplers

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
)

// fromTable is a table that evaluates proposals from what the kernel says of present states.
type fromTable struct {
	*tableTarget
	t     *testing.T
	calls int
}

// EnergyGradFrom implements FromGradienter. It holds what it is told against the table.
func (n *fromTable) EnergyGradFrom(ctx context.Context, from Known, y [][]int32, u []float64,
	grad [][]float64) error {
	n.calls++
	if len(from.X) != len(y) || len(from.U) != len(y) || len(from.Grad) != len(y) {
		n.t.Fatalf("%d proposals from %d states", len(y), len(from.X))
	}
	wantU, wantG := make([]float64, len(y)), matrix[float64](len(y), n.dom.GradLen())
	if err := n.EnergyGrad(ctx, from.X, wantU, wantG); err != nil {
		return err
	}
	for k := range y {
		if slices.Equal(from.X[k], y[k]) {
			n.t.Errorf("proposal %v is the state itself", y[k])
		}
		if from.U[k] != wantU[k] || !slices.Equal(from.Grad[k], wantG[k]) {
			n.t.Errorf("at %v U = %v and ∇U = %v, want %v and %v", from.X[k], from.U[k], from.Grad[k],
				wantU[k], wantG[k])
		}
	}
	return n.EnergyGrad(ctx, y, u, grad)
}

// TestFromGradienter: samplers with gradients tell a FromGradienter the right states, also after
// Retarget, and their chains are those on a target without it. Others do not call it.
func TestFromGradienter(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	tab := newTable(rand.New(rand.NewPCG(5, 1)), Bits(4), 1, 0.5)
	x0 := [][]int32{{0, 1, 0, 1}, {1, 1, 0, 0}, {0, 0, 0, 0}}
	for _, s := range mhSamplers(4) {
		target := &fromTable{tableTarget: tab, t: t}
		runs := [2]*Run{}
		for i, target := range []Target{tab, target} {
			var err error
			if runs[i], err = Start(ctx, s, target, x0, Options{Seed: 1, Burnin: 20}); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := runs[i].Steps(ctx, 20, nil); err != nil {
					t.Fatal(err)
				}
				if err := runs[i].Retarget(ctx); err != nil {
					t.Fatal(err)
				}
			}
		}
		for k, x := range runs[0].X {
			if !slices.Equal(x, runs[1].X[k]) {
				t.Errorf("%s: chain %d ends at %v, want %v", s.Name(), k, runs[1].X[k], x)
			}
		}
		// What the sampler rows keeps in Grad is not gradients.
		want := runs[0].Grad != nil && s.Name() != "rows"
		if got := target.calls > 0; got != want {
			t.Errorf("%s: %d calls of EnergyGradFrom, gradients %v", s.Name(), target.calls, want)
		}
	}
}

// stubborn proposes the other value of the first coordinate, and wants no step tested.
type stubborn struct{ anytime bool }

func (s *stubborn) Name() string { return "stubborn" }

func (s *stubborn) Attach(c *Chains) (Kernel, error) {
	return NewMH(c, s, MHOptions{UntestedAnytime: s.anytime})
}

func (s *stubborn) Schedule(int, int) bool { return true }

func (s *stubborn) Propose(_ int, x []int32, _ []float64, _ *rand.Rand, y []int32) float64 {
	y[0] = 1 - x[0]
	return 0
}

// Reverse says that there is no way back, so that every test rejects.
func (s *stubborn) Reverse(int, []int32, []int32, []float64) float64 { return negInf }

// TestUntestedAnytime: a Scheduler leaves steps untested in the burn-in, and after it only where
// the option is set.
func TestUntestedAnytime(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	tab := newTable(rand.New(rand.NewPCG(6, 1)), Bits(2), 1, 0.5)
	for _, anytime := range []bool{false, true} {
		run, err := Start(ctx, &stubborn{anytime}, tab, [][]int32{{0, 0}}, Options{Burnin: 3})
		if err != nil {
			t.Fatal(err)
		}
		for step := range 6 {
			if err := run.Step(ctx); err != nil {
				t.Fatal(err)
			}
			if got, want := run.Last[0].Accepted, step < 3 || anytime; got != want {
				t.Errorf("anytime %v: step %d accepted: %v", anytime, step, got)
			}
		}
	}
}
