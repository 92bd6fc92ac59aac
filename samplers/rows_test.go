package samplers

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// independent is a table whose energy is the sum of its rows and whose coordinates do
// not depend on each other.
func independent(rng *rand.Rand, d *Domain) *tableTarget {
	tab := newTable(rng, d, 1, 0)
	for s, x := range tab.states {
		copy(tab.mask[s], tab.mask[0])
		tab.u[s] = 0
		for i, v := range x {
			tab.u[s] += tab.mask[0][tab.moff[i]+int(v)]
		}
	}
	return tab
}

// TestRowsOfIndependentCoordinates: what the rows alone decide is never refused, at any
// rate.
func TestRowsOfIndependentCoordinates(t *testing.T) {
	t.Parallel()
	tab := independent(rand.New(rand.NewPCG(3, 1)), Categories(3, 4))
	for _, rate := range []float64{0.1, 0.6, 1} {
		run, err := Start(context.Background(), &Rows{Rate: rate}, tab, [][]int32{{0, 1, 2}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		moved := 0
		if err := run.Steps(context.Background(), 500, func(r *Run) error {
			if m := r.Last[0]; m.Moved {
				moved++
				if !m.Accepted || math.Abs(m.Prob-1) > 1e-9 {
					t.Errorf("rate %g: a draw is accepted with probability %g", rate, m.Prob)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if moved < 200 {
			t.Errorf("rate %g: %d of 500 draws moved", rate, moved)
		}
	}
}

// TestRowsLimit: as the rate goes to 0 one coordinate changes at a time, and the proposals have the
// ratio of gibbs-mh, f(θ_i)/f(θ'_i).
func TestRowsLimit(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 2))
	tab := newTable(rng, Categories(3, 4), 1, 0)
	run, err := Start(context.Background(), &Rows{Rate: 1e-7}, tab, [][]int32{{0, 1, 2}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := run.kernel.(*mhKernel)
	seen := map[int]int{}
	for range 3000 {
		x := tab.states[rng.IntN(len(tab.states))]
		y := append([]int32(nil), x...)
		a := tab.index(x)
		part := partOf(m, tab, a)
		m.keep.Enter(0, x, part)
		there := m.p.Propose(0, x, part, rng, y)
		i, n := 0, hamming(x, y)
		if n > 1 {
			t.Fatalf("%d coordinates change", n)
		}
		if n == 0 {
			continue
		}
		for x[i] == y[i] {
			i++
		}
		seen[i]++
		row := tab.mask[a][tab.moff[i]:]
		back := m.p.Reverse(0, x, y, partOf(m, tab, tab.index(y)))
		if got, want := back-there, row[x[i]]-row[y[i]]; math.Abs(got-want) > 1e-5 {
			t.Errorf("from %v to %v: log ratio %g, gibbs-mh has %g", x, y, got, want)
		}
	}
	for i := range 3 {
		if seen[i] < 300 {
			t.Errorf("coordinate %d changes in %d of 3000 draws", i, seen[i])
		}
	}
}

// TestRowsOfPartedStates: where only a change of both coordinates leads from one state
// to the other, the rate that is tuned still makes such changes.
func TestRowsOfPartedStates(t *testing.T) {
	t.Parallel()
	tab := newTable(rand.New(rand.NewPCG(3, 4)), Categories(2, 2), 0.3, 0)
	tab.u[0], tab.u[3] = negInf, negInf // (0, 0) and (1, 1)
	run, err := Start(context.Background(), &Rows{}, tab, [][]int32{{0, 1}},
		Options{Seed: 1, Burnin: 200})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Sample(context.Background(), 400); err != nil {
		t.Fatal(err)
	}
	if n := run.Stats[0].Hamming; n < 40 {
		t.Errorf("%d changes in 400 steps, with the rate %v", n, run.Tuning(0))
	}
}

// sumTable gives the sums of its rows too, of all categories.
type sumTable struct {
	rowTable
	asked *int
}

func (t sumTable) EnergyRows(ctx context.Context, x [][]int32, u []float64,
	rows, sums [][]float64) error {
	*t.asked++
	for k := range x {
		for i := range t.dom.coords {
			s := sums[k][2*i:]
			s[0], s[1] = SumRow(t.mask[t.index(x[k])][t.moff[i]:][:t.dom.K(i)])
		}
	}
	return t.rowTable.EnergyRows(ctx, x, u, rows, nil)
}

// TestRowSums: a target that knows the sums of its rows changes no state and no energy, also where
// the support leaves categories out.
func TestRowSums(t *testing.T) {
	t.Parallel()
	masked, err := NewDomain(Coord{K: 4, Allowed: []bool{true, false, true, true}}, Coord{K: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*Domain{Categories(2, 4), masked} {
		tab, asked := newTable(rand.New(rand.NewPCG(3, 5)), d, 1, 0), 0
		var runs [2]*Run
		for i, target := range []Target{rowTable{tab}, sumTable{rowTable{tab}, &asked}} {
			runs[i], err = Start(context.Background(), &Rows{}, target,
				[][]int32{{0, 1}, {2, 2}}, Options{Seed: 2, Burnin: 20})
			if err != nil {
				t.Fatal(err)
			}
		}
		for range 100 {
			for _, r := range runs {
				if err := r.Step(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			for k, x := range runs[0].X {
				if !slices.Equal(x, runs[1].X[k]) || runs[0].U[k] != runs[1].U[k] ||
					runs[0].Last[k] != runs[1].Last[k] {
					t.Fatalf("step %d: %v and %v", runs[0].Done(), x, runs[1].X[k])
				}
			}
		}
		if asked == 0 {
			t.Error("the sums were not asked for")
		}
	}
}
