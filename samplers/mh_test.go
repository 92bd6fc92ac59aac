package samplers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"infill/internal/testmode"
)

func TestDetailedBalance(t *testing.T) {
	t.Parallel()
	eachTable(t, 40, func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		for _, s := range mhSamplers(tab.dom.Len()) {
			b, n := balanceError(t, tab, s, false)
			if b > 1e-9 || n > 1e-9 {
				t.Errorf("%s %+v: balance violated by %g, proposal sums to 1 within %g", s.Info().Name, s, b, n)
			}
		}
	})
}

// TestDetailedBalanceOfManyCategories is the same on the largest of the small
// domains: pairs of 25 states of four coordinates of five categories. The usual run
// has the nominal ones, and leaves the power to TestBrokenSamplerFailsDetailedBalance.
func TestDetailedBalanceOfManyCategories(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 7))
	for _, d := range []*Domain{Categories(4, 5), Integers(4, 5, -2)}[:repeats(2, 1)] {
		tab := newTable(rng, d, 1, 0.5)
		for _, s := range mhSamplers(4) {
			if g, ok := s.(*GWG); ok && g.Draws > 1 {
				continue // thousands of paths
			}
			if b, n := balanceError(t, tab, s, false); b > 1e-9 || n > 1e-9 {
				t.Errorf("%s %+v: balance violated by %g, proposal sums to 1 within %g", s.Info().Name, s, b, n)
			}
			if !testmode.All() {
				continue
			}
			if b, _ := balanceError(t, tab, s, true); b < 1e-6 {
				t.Errorf(
					"%s %+v without a term of its ratio violates balance by %g only: the test has no power",
					s.Info().Name, s, b,
				)
			}
		}
	}
}

func TestBrokenSamplerFailsDetailedBalance(t *testing.T) {
	t.Parallel()
	eachTable(t, 40, func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		for _, s := range mhSamplers(tab.dom.Len()) {
			if b, _ := balanceError(t, tab, s, true); b < 1e-5 {
				t.Errorf(
					"%s %+v without a term of its ratio violates balance by %g only: the test has no power",
					s.Info().Name, s, b,
				)
			}
		}
	})
}

// TestProposalDraws checks that states are drawn with the probabilities that
// the enumeration above takes them to have, and that propose claims the same:
// the other half of what makes the enumerated kernel the real one.
func TestProposalDraws(t *testing.T) {
	t.Parallel()
	eachTable(t, repeats(8, 4), func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		for _, s := range mhSamplers(tab.dom.Len()) {
			sup := tab.support()
			a := sup[rng.IntN(len(sup))]
			x := tab.states[a]
			run, err := Start(context.Background(), s, tab, [][]int32{x}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			m := run.kernel.(*mhKernel)
			schedule(t, m)
			part := partOf(m, tab, a)
			const draws = 5000
			count := make([]float64, len(tab.states))
			y := make([]int32, tab.dom.Len())
			for range draws {
				copy(y, x)
				lq := m.p.Propose(0, x, part, rng, y)
				if f := forward(m, x, y, part); !(math.Abs(f-lq) < 1e-9) {
					t.Fatalf("%s: propose says log q = %g, enumeration %g", s.Info().Name, lq, f)
				}
				if err := tab.dom.Check(y); err != nil {
					t.Fatalf("%s proposes a state outside the support: %v", s.Info().Name, err)
				}
				count[tab.index(y)]++
			}
			want := make([]float64, len(count))
			for b, y := range tab.states {
				if tab.dom.Check(y) == nil {
					want[b] = forwardTotal(m, x, y, part)
				}
			}
			checkFrequencies(t, fmt.Sprintf("%s %+v", s.Info().Name, s), count, want, draws)
		}
	})
}

// checkFrequencies compares counts of independent draws with their
// probabilities: no cell may be off by more than 6 standard deviations plus a
// Poisson allowance, a false alarm in fewer than 1e-8 of the cells.
func checkFrequencies(t *testing.T, name string, count, want []float64, n float64) {
	t.Helper()
	for s, c := range count {
		mean := n * want[s]
		if d := math.Abs(c - mean); d > 6*math.Sqrt(mean*(1-math.Min(1, want[s])))+8 {
			t.Errorf("%s: state %d drawn %g times, want %.1f", name, s, c, mean)
		}
	}
}

// TestNoEvaluationIsWasted: a proposal equal to the state is not evaluated.
func TestNoEvaluationIsWasted(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	for _, s := range []Sampler{&DMALA{StepSize: 0.5}, &GibbsMH{}, &Rows{}} {
		tab := newTable(rng, Categories(2, 3), 1, 0.2)
		run, err := Start(context.Background(), s, tab, [][]int32{{0, 0}, {1, 1}, {2, 2}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Steps(context.Background(), 500, nil); err != nil {
			t.Fatal(err)
		}
		want, moved := 3, 0
		for _, s := range run.Stats {
			want += s.Moved
			moved += s.Moved
		}
		if tab.evals != want || moved < 150 || moved > 1350 {
			t.Errorf(
				"%s: %d evaluations, want one per start and moved proposal (%d); %d of 1500 moved", s.Info().Name,
				tab.evals, want, moved,
			)
		}
	}
}

// TestChainsDoNotMatterToEachOther runs the same chain alone and among others.
func TestChainsDoNotMatterToEachOther(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	tab := newTable(rng, smallDomain(rng, 3), 1, 0.3)
	sup := tab.support()
	starts := [][]int32{}
	for j := range 5 {
		starts = append(starts, tab.states[sup[j*7%len(sup)]])
	}
	for _, name := range Names() {
		trace := func(first, n int) [][]int32 {
			s, err := New(name, nil)
			if err != nil {
				t.Fatal(err)
			}
			run, err := Start(
				context.Background(), s, tab, starts[first:first+n],
				Options{Seed: 9, ID: "x", First: first, Burnin: 40},
			)
			if err != nil {
				t.Fatal(name, err)
			}
			var out [][]int32
			err = run.Steps(context.Background(), 100, func(r *Run) error {
				out = append(out, append([]int32(nil), r.X[len(r.X)-1]...))
				return nil
			})
			if err != nil {
				t.Fatal(name, err)
			}
			return out
		}
		all, alone := trace(0, 4), trace(3, 1)
		if fmt.Sprint(all) != fmt.Sprint(alone) {
			t.Errorf("%s: chain 3 differs when run alone", name)
		}
	}
}

// symmetric is invariant under changing every bit.
type symmetric struct{ d *Domain }

func (s symmetric) Domain() *Domain { return s.d }

func (s symmetric) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k := range x {
		ones := 0
		for _, v := range x[k] {
			ones += int(v)
		}
		u[k] = 0.3 * float64(ones) * float64(len(x[k])-ones)
	}
	return nil
}

func (s symmetric) EnergyGrad(ctx context.Context, x [][]int32, u []float64, g [][]float64) error {
	for k := range x {
		ones := 0
		for _, v := range x[k] {
			ones += int(v)
		}
		for i := range g[k] {
			g[k][i] = 0.3 * float64(len(x[k])-2*ones)
		}
	}
	return s.Energy(ctx, x, u)
}

// TestAdaptationOnSymmetricTarget: where changing all coordinates is always
// accepted, adapting to a mean acceptance probability must not end in doing only that.
func TestAdaptationOnSymmetricTarget(t *testing.T) {
	t.Parallel()
	s := symmetric{Bits(4)}
	for _, info := range List() {
		if !slices.Equal(info.Needs, []Need{NeedGradients}) {
			continue
		}
		smp, err := New(info.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		run, err := Start(
			context.Background(), smp, s, [][]int32{{0, 0, 0, 0}}, Options{Seed: 1, Burnin: 500},
		)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		if err := run.Steps(context.Background(), 4000, func(r *Run) error {
			if r.Done() > 500 {
				seen[fmt.Sprint(r.X[0])] = true
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if len(seen) < 16 {
			t.Errorf("%s visits %d of 16 states once tuned to %v", info.Name, len(seen), run.Tuning(0))
		}
	}
}
