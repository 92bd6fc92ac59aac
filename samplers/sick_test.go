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

// TestNeighboursOfEnergyZeroAreCounted: samplers that evaluate neighbours count
// those of U = −∞ inside the support, each evaluation once, and not the
// categories outside it.
func TestNeighboursOfEnergyZeroAreCounted(t *testing.T) {
	t.Parallel()
	d, err := NewDomain(
		Coord{Kind: Nominal, K: 4, Allowed: []bool{true, true, true, false}}, Coord{Kind: Nominal, K: 2},
	)
	if err != nil {
		t.Fatal(err)
	}
	tab := newTable(rand.New(rand.NewPCG(8, 9)), d, 0.3, 0)
	tab.u[2] = negInf // (2, 0)
	tab.u[6] = negInf // (2, 1): coordinate 0 never has value 2
	for _, c := range []struct {
		s      Sampler
		target Target
		most   int     // of them in a step
		mean   float64 // a step
	}{
		// Every other step of Gibbs visits coordinate 0. LB-1 asks coordinate 0
		// for its values and coordinate 1 for those of a state without a 2. A
		// block is the whole space. A quarter of the balls are around (2, ·),
		// and hold both, the others one.
		{&ExactGibbs{}, tab, 1, 0.5},
		{&LB1{}, tab, 1, 1},
		{&LB1{}, conditionerTable{tab}, 1, 1},
		{&BlockGibbs{}, tab, 2, 2},
		{&HammingBall{}, tab, 2, 1.25},
	} {
		run, err := Start(context.Background(), c.s, c.target, [][]int32{{0, 0}}, Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		run.ResetStats()
		const n = 1000
		before := 0
		if err := run.Steps(context.Background(), n, func(r *Run) error {
			now := r.Stats[0].Zero
			if now-before > c.most {
				t.Errorf("%s counts %d in one step, at most %d can be", c.s.Info().Name, now-before, c.most)
			}
			before = now
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		st := run.Stats[0]
		if mean := float64(st.Zero) / n; math.Abs(mean/c.mean-1) > 0.12 || st.NonFinite != 0 {
			t.Errorf("%s: %g counted a step, want %g; %d no numbers", c.s.Info().Name, mean, c.mean, st.NonFinite)
		}
	}
}
