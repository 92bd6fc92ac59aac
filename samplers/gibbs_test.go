package samplers

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// conditionerTable gives exact conditionals, with a constant of its own for each state and
// coordinate, as the interface allows.
type conditionerTable struct{ *tableTarget }

func (t conditionerTable) Conditional(
	_ context.Context, x [][]int32, i []int, lp [][]float64,
) error {
	for k := range x {
		for v := range lp[k] {
			lp[k][v] = t.at(x[k], i[k], v) - float64(t.index(x[k])+i[k])
		}
	}
	return nil
}

func (t conditionerTable) ExactConditionals() bool { return true }

// stationarityTV starts many chains at independent exact draws of π, makes some
// steps and returns the total variation between the final states and π, and
// the threshold that a sampler leaving π invariant exceeds with probability at
// most 1e-6: the final states are then n independent draws of π, for which
// E[TV] ≤ ½ Σ √(π(1−π)/n) (Jensen) and, a draw changing TV by at most 1/n,
// P(TV > E[TV] + ε) ≤ exp(−2nε²) (McDiarmid).
func stationarityTV(
	t *testing.T, rng *rand.Rand, tab *tableTarget, target Target, s Sampler, n, steps int,
) (tv, limit float64) {
	t.Helper()
	x0 := make([][]int32, n)
	cum := make([]float64, len(tab.u))
	for k := range x0 {
		a, _ := drawLog(rng, tab.u, cum)
		x0[k] = tab.states[a]
	}
	run, err := Start(context.Background(), s, target, x0, Options{Seed: rng.Uint64()})
	if err != nil {
		t.Fatal(s.Info().Name, err)
	}
	if err := run.Steps(context.Background(), steps, nil); err != nil {
		t.Fatal(s.Info().Name, err)
	}
	return tvToPi(tab, run.X)
}

// tvToPi compares states with π.
func tvToPi(tab *tableTarget, x [][]int32) (tv, limit float64) {
	n := float64(len(x))
	count := make([]float64, len(tab.u))
	for _, y := range x {
		count[tab.index(y)]++
	}
	for a := range count {
		p := tab.pi(a)
		tv += math.Abs(count[a]/n-p) / 2
		limit += math.Sqrt(p*(1-p)/n) / 2
	}
	return tv, limit + math.Sqrt(math.Log(1e6)/(2*n))
}

// TestEnergySamplersStationary covers the samplers whose kernels are not
// Metropolis–Hastings proposals. False alarm: at most 1e-6 a case.
func TestEnergySamplersStationary(t *testing.T) {
	t.Parallel()
	eachTable(t, 32, func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		for _, c := range []struct {
			name   string
			s      Sampler
			target Target
		}{
			{"gibbs-mh", &GibbsMH{}, tab},
			{"gibbs-mh systematic", &GibbsMH{Systematic: true}, tab},
			{"rows", &Rows{}, rowTable{tab}},
			{"rows of conditionals", &Rows{Rate: 0.7}, conditionerTable{tab}},
		} {
			tv, limit := stationarityTV(t, rng, tab, c.target, c.s, 2000, 5)
			if tv > limit {
				t.Errorf("%s: total variation %.4f after 5 steps from π, limit %.4f", c.name, tv, limit)
			}
		}
	})
}

// TestStationarityHasPower runs samplers that are known not to leave π
// invariant through the same comparison: masked-conditional Gibbs.
func TestStationarityHasPower(t *testing.T) {
	t.Parallel()
	caught := 0
	eachTable(t, 32, func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		if tv, limit := stationarityTV(t, rng, tab, tab, &Gibbs{}, 2000, 20); tv > limit {
			caught++
		}
	})
	if n := repeats(32, 12); caught < n/2 {
		t.Errorf("Gibbs was caught on only %d of %d targets", caught, n)
	}
}

// TestDefaultsReachTheTarget runs every exact sampler of the registry as a user
// would, adapting in a burn-in, from one fixed start, and compares the last
// states of many chains with π.
func TestDefaultsReachTheTarget(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(21, 1))
	d, err := NewDomain(
		Coord{Kind: Nominal, K: 3}, Coord{Kind: Binary, Low: -1, Step: 2},
		Coord{Kind: Nominal, K: 4, Allowed: []bool{true, true, false, true}},
	)
	if err != nil {
		t.Fatal(err)
	}
	tab := newTable(rng, d, 1, 0.3)
	x0 := make([][]int32, 900)
	for k := range x0 {
		x0[k] = []int32{0, 0, 0}
	}
	for _, info := range List() {
		s, err := New(info.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		run, err := Start(context.Background(), s, tab, x0, Options{Seed: 5, Burnin: 100})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Steps(context.Background(), 180, nil); err != nil {
			t.Fatal(err)
		}
		tv, limit := tvToPi(tab, run.X)
		if info.Exact && tv > limit {
			t.Errorf("%s: total variation %.4f, limit %.4f", info.Name, tv, limit)
		}
		if err := run.Refresh(context.Background()); err != nil {
			t.Fatal(err)
		}
		for k, x := range run.X {
			if want := tab.u[tab.index(x)]; math.Abs(run.U[k]-want) > 1e-9 {
				t.Fatalf("%s: chain %d reports energy %g at a state of energy %g", info.Name, k, run.U[k], want)
			}
		}
	}
}

// pulled is a target on n bits of which every coordinate, once visited, is 1.
type pulled struct{ flat }

func (pulled) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k := range x {
		u[k] = 0
		for _, v := range x[k] {
			u[k] += 100 * float64(v)
		}
	}
	return nil
}

// pulledCond gives the same in conditionals, milder ones, so that gibbs-mh
// accepts what it draws.
type pulledCond struct{ pulled }

func (pulledCond) Conditional(_ context.Context, x [][]int32, _ []int, lp [][]float64) error {
	for k := range x {
		lp[k][0], lp[k][1] = -50, 0
	}
	return nil
}

func (pulledCond) ExactConditionals() bool { return false }

// TestScansVisitEveryCoordinate: a systematic sweep is as many steps as there
// are coordinates and visits each, in order; a random scan does not keep to any
// order, and gets everywhere.
func TestScansVisitEveryCoordinate(t *testing.T) {
	t.Parallel()
	const n = 7
	for _, c := range []struct {
		s      func(systematic bool) Sampler
		target Target
	}{
		{func(o bool) Sampler { return &Gibbs{Systematic: o} }, pulledCond{pulled{flat{Bits(n)}}}},
		{func(o bool) Sampler { return &GibbsMH{Systematic: o} }, pulledCond{pulled{flat{Bits(n)}}}},
	} {
		for _, systematic := range []bool{true, false} {
			s := c.s(systematic)
			run, err := Start(
				context.Background(), s, c.target, [][]int32{make([]int32, n), make([]int32, n)},
				Options{Seed: 1},
			)
			if err != nil {
				t.Fatal(err)
			}
			inOrder := true
			err = run.Steps(context.Background(), 20*n, func(r *Run) error {
				for _, x := range r.X {
					for i, v := range x {
						inOrder = inOrder && (v == 1) == (i < r.Done())
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for k, x := range run.X {
				if hamming(x, make([]int32, n)) != n {
					t.Errorf(
						"%s, systematic %v: chain %d ends at %v, some coordinate was never visited", s.Info().Name, systematic, k, x,
					)
				}
			}
			if inOrder != systematic {
				t.Errorf("%s, systematic %v: coordinates visited in order: %v", s.Info().Name, systematic, inOrder)
			}
		}
	}
}
