package samplers

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// sick returns energies and gradients that are not numbers for some states.
type sick struct {
	*tableTarget
	u     map[int]float64
	grad  map[int]float64
	entry int // of the gradient, which grad sets
}

func (s sick) EnergyGrad(ctx context.Context, x [][]int32, u []float64, g [][]float64) error {
	if err := s.tableTarget.EnergyGrad(ctx, x, u, g); err != nil {
		return err
	}
	for k := range x {
		if e, bad := s.u[s.index(x[k])]; bad {
			u[k] = e
		}
		if e, bad := s.grad[s.index(x[k])]; bad {
			g[k][s.entry] = e
		}
	}
	return nil
}

func (s sick) Energy(ctx context.Context, x [][]int32, u []float64) error {
	for k := range x {
		u[k] = s.tableTarget.u[s.index(x[k])]
		if e, bad := s.u[s.index(x[k])]; bad {
			u[k] = e
		}
	}
	return nil
}

// StochasticGrad is the noisy gradient with the same sick entries.
func (s sick) StochasticGrad(
	ctx context.Context, x [][]int32, batch int, rng []*rand.Rand, u []float64, g [][]float64,
) error {
	if err := s.tableTarget.StochasticGrad(ctx, x, batch, rng, u, g); err != nil {
		return err
	}
	for k := range x {
		if e, bad := s.grad[s.index(x[k])]; bad {
			g[k][s.entry] = e
		}
	}
	return nil
}

// MaskedConditional is none for coordinate 0 where the others are as in a state
// with a sick gradient. It may not depend on the coordinate itself.
func (s sick) Conditional(ctx context.Context, x [][]int32, i []int, lp [][]float64) error {
	if err := s.tableTarget.Conditional(ctx, x, i, lp); err != nil {
		return err
	}
	for k := range x {
		for at, e := range s.grad {
			if i[k] == 0 && slices.Equal(x[k][1:], s.states[at][1:]) {
				lp[k][0] = e
			}
		}
	}
	return nil
}

// TestSickTargets: what is not a number is rejected and counted, and never
// spreads.
func TestSickTargets(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 9))
	for _, d := range []*Domain{Categories(2, 3), Categories(3, 3), Bits(3), Integers(3, 3, 0)} {
		tab := newTable(rng, d, 0.3, 0)
		for entry := range d.GradLen() {
			everySampler(t, sick{
				tab, map[int]float64{2: math.NaN(), 3: math.Inf(1), 4: negInf}, map[int]float64{1: math.NaN()}, entry,
			})
		}
	}
}

// everySampler runs all of them on a sick target.
func everySampler(t *testing.T, s sick) {
	t.Helper()
	d, tab := s.dom, s.tableTarget
	for _, info := range List() {
		// Gibbs and SGDLD evaluate no energies, so they see nothing of what is
		// wrong with those.
		usesU := info.Name != "gibbs" && info.Name != "sgdld"
		smp, err := New(info.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		run, err := Start(
			context.Background(), smp, s, [][]int32{make([]int32, d.Len())}, Options{Seed: 2, Burnin: 50},
		)
		if err != nil {
			t.Fatal(info.Name, err)
		}
		err = run.Steps(context.Background(), 1000, func(r *Run) error {
			at := tab.index(r.X[0])
			// A state with a sick row is left by its other rows.
			usesGrad := r.Grad != nil && info.Name != "rows" || info.Name == "sgdld"
			if usesU && (at == 2 || at == 3 || at == 4 || math.IsNaN(r.U[0]) || math.IsInf(r.U[0], 0)) ||
				usesGrad && at == 1 {
				t.Fatalf("%s: at state %d with energy %g", info.Name, at, r.U[0])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		st := run.Stats[0]
		if st.NonFinite == 0 || st.Zero == 0 && usesU || st.Moved < 20 {
			t.Errorf(
				"%s: counted %d states that are no numbers and %d of probability 0; %d moves", info.Name,
				st.NonFinite, st.Zero, st.Moved,
			)
		}
		for _, v := range run.Tuning(0) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s: tuned to %g", info.Name, v)
			}
		}
	}
}
