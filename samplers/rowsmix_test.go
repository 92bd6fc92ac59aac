package samplers

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// mixedTables are targets of three kinds of coordinates.
func mixedTables() map[string]*tableTarget {
	ordinal, err := NewDomain(Coord{Kind: Ordinal, K: 3, Step: 1}, Coord{K: 3})
	if err != nil {
		panic(err)
	}
	binary, err := NewDomain(Coord{K: 2}, Coord{Kind: Binary, Step: 1}, Coord{K: 2})
	if err != nil {
		panic(err)
	}
	rng := rand.New(rand.NewPCG(21, 1))
	return map[string]*tableTarget{
		"2 of 3":  newTable(rng, Categories(2, 3), 1, 0.5),
		"ordinal": newTable(rng, ordinal, 1, 0.5),
		"3 of 2":  newTable(rng, binary, 1, 0.5),
	}
}

// mixtureKernel enumerates what a step does from every state, with the share that it is given there.
func mixtureKernel(t *testing.T, tab *tableTarget, share func(a int) float64) [][]float64 {
	t.Helper()
	d := newDriver(t, tab, rowTable{tab}, &Rows{Langevin: 0.5, Rate: 0.6, StepSize: 2})
	K := matrix[float64](len(tab.states), len(tab.states))
	for a := range K {
		d.run.Kernel.(*mixture).share[0] = share(a)
		d.row(a, 0, K[a])
		sum := 0.0
		for _, p := range K[a] {
			sum += p
		}
		if math.Abs(sum-1) > 1e-10 {
			t.Errorf("probabilities from %v sum to %g", tab.states[a], sum)
		}
	}
	return K
}

// TestMixtureDetailedBalance enumerates the steps themselves: they are balanced, and made of the two
// kernels at their shares. A share that depends on the state is noticed.
func TestMixtureDetailedBalance(t *testing.T) {
	t.Parallel()
	d, err := NewDomain(Coord{Kind: Ordinal, K: 3, Step: 1}, Coord{K: 2})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(21, 1))
	for i, d := range []*Domain{Categories(2, 2), d} {
		tab := newTable(rng, d, 1, 0.5)
		worst := func(K [][]float64) (w float64) {
			for a := range K {
				for b := range K {
					w = math.Max(w, math.Abs(tab.pi(a)*K[a][b]-tab.pi(b)*K[b][a]))
				}
			}
			return w
		}
		K := mixtureKernel(t, tab, func(int) float64 { return 0.3 })
		if w := worst(K); w > 1e-9 {
			t.Errorf("domain %d: detailed balance violated by %g", i, w)
		}
		if i > 0 {
			continue
		}
		w := worst(mixtureKernel(t, tab, func(a int) float64 { return []float64{0.1, 0.9}[a%2] }))
		if w < 1e-4 {
			t.Errorf("with a share that depends on the state, balance is violated by %g only", w)
		}
		rows := mixtureKernel(t, tab, func(int) float64 { return 0 })
		langevin := mixtureKernel(t, tab, func(int) float64 { return 1 })
		for a := range K {
			for b := range K {
				want := 0.3*langevin[a][b] + 0.7*rows[a][b]
				if math.Abs(K[a][b]-want) > 1e-9 || math.Abs(rows[a][b]-langevin[a][b]) < 1e-4 {
					t.Errorf("from %v to %v: %g, of kernels that make %g and %g", tab.states[a],
						tab.states[b], K[a][b], rows[a][b], langevin[a][b])
				}
			}
		}
	}
}

// TestMixtureStationary: chains that begin with π keep it, through the steps in which each kernel
// takes over from the other.
func TestMixtureStationary(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(21, 2))
	for name, tab := range mixedTables() {
		tv, limit := stationarityTV(t, rng, tab, rowTable{tab},
			&Rows{Langevin: 0.4, Rate: 0.6, StepSize: 2}, 5000, 9)
		if tv > limit {
			t.Errorf("%s: total variation %.4f after 9 steps from π, limit %.4f", name, tv, limit)
		}
	}
}

// TestMixtureReadsAgain: every step is the one that a run would make which begins at the state. With
// what is kept of an earlier state it is not.
func TestMixtureReadsAgain(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := &Rows{Langevin: 0.4, Rate: 0.6, StepSize: 2}
	for name, tab := range mixedTables() {
		for _, forget := range []bool{false, true} {
			run, err := Start(ctx, s, rowTable{tab}, [][]int32{tab.states[0]}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			same := true
			for step := range uint64(400) {
				fresh, err := Start(ctx, s, rowTable{tab}, run.X, Options{})
				if err != nil {
					t.Fatal(err)
				}
				fresh.RNG[0], run.RNG[0] = rand.New(rand.NewPCG(step, 5)), rand.New(rand.NewPCG(step, 5))
				if m := run.Kernel.(*mixture); forget && step > 10 {
					m.rows.stale[0], m.langevin.stale[0] = false, false
				}
				for _, r := range []*Run{run, fresh} {
					if err := r.Step(ctx); err != nil {
						t.Fatal(err)
					}
				}
				same = same && slices.Equal(run.X[0], fresh.X[0]) && run.U[0] == fresh.U[0] &&
					run.Last[0] == fresh.Last[0]
			}
			if same == forget {
				t.Errorf("%s: nothing read again: %v, the steps of fresh runs: %v", name, forget, same)
			}
			if n := run.Stats[0].Langevin; n.Steps < 120 || n.Steps > 200 || n.Accepted == 0 ||
				n.Accepted > n.Moved || n.Moved > n.Steps || n.Hamming < n.Accepted {
				t.Errorf("%s: of 400 steps with a share of 0.4: %+v", name, n)
			}
		}
	}
}

// TestMixtureOfNothing: a share of 0 needs no gradient and makes the steps of rows, one of 1 those
// of dmala but for the draw of the kernel.
func TestMixtureOfNothing(t *testing.T) {
	t.Parallel()
	if slices.Contains(InfoOf(&Rows{}).Needs, NeedGradients) ||
		!slices.Contains(InfoOf(&Rows{Langevin: 0.1}).Needs, NeedGradients) ||
		slices.Contains(InfoOf(&Rows{}).Needs, NeedGradients) {
		t.Error("gradients are needed for a share above 0, and for no other")
	}
	tab := newTable(rand.New(rand.NewPCG(21, 3)), Categories(2, 3), 1, 0.5)
	run, err := Start(context.Background(), &Rows{Langevin: 1}, rowTable{tab},
		[][]int32{{0, 0}, {1, 2}}, Options{Seed: 4, Burnin: 200})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Steps(context.Background(), 300, nil); err != nil {
		t.Fatal(err)
	}
	for k, st := range run.Stats {
		n := st.Langevin
		if n.Steps != 300 || n.Moved != st.Moved || n.Accepted != st.Accepted || n.Hamming != st.Hamming {
			t.Errorf("chain %d: of %+v by the gradient %+v", k, st, n)
		}
		if v := run.Tuning(k); v[langevinStep] == startStep(tab.dom) || v["rate"] != startRate {
			t.Errorf("chain %d is tuned to %v", k, v)
		}
	}
}

// TestMixtureAdapts: in the burn-in both kernels come near their acceptance rates, each by its own
// steps, and nothing changes after it.
func TestMixtureAdapts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	tab := newTable(rand.New(rand.NewPCG(21, 4)), Categories(4, 3), 1.5, 0.5)
	starts := make([][]int32, 30)
	for k := range starts {
		starts[k] = tab.states[k%len(tab.states)]
	}
	run, err := Start(ctx, &Rows{Langevin: 0.3}, rowTable{tab}, starts, Options{Seed: 1, Burnin: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Steps(ctx, 1000, nil); err != nil {
		t.Fatal(err)
	}
	before := run.Tuning(0)
	run.ResetStats()
	prob, steps := 0.0, 0
	if err := run.Steps(ctx, 300, func(r *Run) error {
		for k, m := range r.Last {
			if !r.Kernel.(*mixture).langevin.rest[k] {
				prob, steps = prob+m.Prob, steps+1
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if mean := prob / float64(steps); math.Abs(mean-TargetAcceptance) > 0.06 {
		t.Errorf("%d steps by the gradient are accepted with probability %.3f", steps, mean)
	}
	var all Stats
	for _, s := range run.Stats {
		all.Add(s)
	}
	if all.Langevin.Steps != steps || math.Abs(float64(steps)/9000-0.3) > 0.03 {
		t.Errorf("%d of 9000 steps are by the gradient, %d counted", steps, all.Langevin.Steps)
	}
	if after := run.Tuning(0); after["rate"] != before["rate"] ||
		after[langevinStep] != before[langevinStep] {
		t.Errorf("tuned to %v, then %v", before, after)
	}
}

// TestMixtureKeepsWhatPays: where coordinates do not depend on each other nothing is gained by
// gradients, and the burn-in drops them. Where rows say nothing, it keeps them.
func TestMixtureKeepsWhatPays(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, blind := range []bool{false, true} {
		tab := independent(rand.New(rand.NewPCG(21, 5)), Categories(3, 5))
		for s, x := range tab.states {
			if !blind {
				break
			}
			// All rows want the state's own first category, and the energy wants all states alike. So rows
			// propose hardly anything else.
			tab.u[s] = 0
			clear(tab.grad[s])
			for i := range x {
				row := tab.mask[s][tab.moff[i]:][:5]
				clear(row)
				row[0] = 60
			}
		}
		run, err := Start(ctx, &Rows{Langevin: 0.3, LangevinIfPays: true}, rowTable{tab},
			[][]int32{{0, 1, 2}, {1, 1, 1}, {4, 3, 0}}, Options{Seed: 3, Burnin: 300})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Sample(ctx, 400); err != nil {
			t.Fatal(err)
		}
		for k, st := range run.Stats {
			if kept := st.Langevin.Steps > 0; kept != blind {
				t.Errorf("rows that say nothing: %v: %d steps by the gradient in chain %d", blind,
					st.Langevin.Steps, k)
			}
		}
	}
}
