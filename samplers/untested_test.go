package samplers

import (
	"context"
	"math/rand/v2"
	"testing"
)

// stubborn proposes the other value of the first coordinate, and wants no step tested.
type stubborn struct{ anytime bool }

func (s *stubborn) Info() Info { return Info{Name: "stubborn"} }

func (s *stubborn) Attach(c *Chains) (Kernel, error) {
	return newMH(c, s, mhOptions{anytime: s.anytime})
}

func (s *stubborn) Schedule(_ context.Context, _ int, untested []bool) error {
	untested[0] = true
	return nil
}

func (s *stubborn) Propose(_ int, x []int32, _ []float64, _ *rand.Rand, y []int32) float64 {
	y[0] = 1 - x[0]
	return 0
}

// Reverse says that there is no way back, so that every test rejects.
func (s *stubborn) Reverse(int, []int32, []int32, []float64) float64 { return negInf }

// TestUntestedAnytime: a scheduler leaves steps untested in the burn-in, and after it only where
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
