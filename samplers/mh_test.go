package samplers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// balanceError enumerates the one-step kernel of a factorised
// Metropolis–Hastings sampler, as the code itself computes it (proposal
// probabilities from the proposer, acceptance from mhKernel.decide), and
// returns the largest violation of π(x)K(x,y) = π(y)K(y,x), and of Σ_y q = 1.
func balanceError(t *testing.T, tab *tableTarget, s Sampler, breakIt bool) (balance, norm float64) {
	t.Helper()
	sup := tab.support()
	run, err := Start(context.Background(), s, tab, [][]int32{tab.states[sup[0]]}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := run.Kernel.(*mhKernel)
	if breakIt {
		m.p = forgetReverse{m.p}
	}
	n := len(tab.states)
	K := matrix[float64](n, n)
	for _, a := range sup {
		x := tab.states[a]
		sum := 0.0
		for b, y := range tab.states {
			lq := m.p.(interface {
				reverse(k int, x, y []int32, gy []float64) float64
			}).reverse(0, y, x, tab.grad[a])
			if br, ok := m.p.(forgetReverse); ok {
				lq = br.proposer.reverse(0, y, x, tab.grad[a])
			}
			sum += math.Exp(lq)
			if a == b || math.IsInf(tab.u[b], -1) {
				continue
			}
			copy(run.X[0], x)
			run.U[0] = tab.u[a]
			copy(run.Grad[0], tab.grad[a])
			copy(m.y[0], y)
			copy(m.gy[0], tab.grad[b])
			m.fwd[0] = lq
			run.Last[0] = Move{Moved: true, Flips: 1}
			m.decide(0, tab.u[b])
			K[a][b] = math.Exp(lq) * run.Last[0].Prob
		}
		norm = math.Max(norm, math.Abs(sum-1))
	}
	for _, a := range sup {
		for _, b := range sup {
			balance = math.Max(balance, math.Abs(tab.pi(a)*K[a][b]-tab.pi(b)*K[b][a]))
		}
	}
	return balance, norm
}

// forgetReverse is a deliberately wrong sampler: it leaves the reverse
// proposal out of the acceptance ratio by pretending that it equals the
// forward one.
type forgetReverse struct{ proposer }

func (f forgetReverse) reverse(k int, x, y []int32, gy []float64) float64 { return 0 }

func factorisedSamplers() []Sampler {
	out := []Sampler{}
	for _, g := range []Balance{Sqrt, Ratio, Max, Min} {
		out = append(out, &DMALA{StepSize: 0.7, Balance: g}, &DMALA{StepSize: 4, Balance: g})
	}
	return append(out, &DMALA{})
}

func TestDetailedBalance(t *testing.T) {
	eachTable(t, 40, func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		for _, s := range factorisedSamplers() {
			b, n := balanceError(t, tab, s, false)
			if b > 1e-9 || n > 1e-9 {
				t.Errorf("%s %+v: balance violated by %g, proposal sums to 1 within %g", s.Name(), s, b, n)
			}
		}
	})
}

func TestBrokenSamplerFailsDetailedBalance(t *testing.T) {
	eachTable(t, 40, func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		for _, s := range factorisedSamplers() {
			if b, _ := balanceError(t, tab, s, true); b < 1e-4 {
				t.Errorf("%s %+v without its reverse term violates balance by %g only: the test has no power", s.Name(), s, b)
			}
		}
	})
}

// TestProposalDraws checks that states are drawn with the probabilities that
// propose claims, and that reverse claims the same: the other half of what
// makes the enumerated kernel the real one.
func TestProposalDraws(t *testing.T) {
	eachTable(t, 12, func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		for _, s := range factorisedSamplers() {
			sup := tab.support()
			a := sup[rng.IntN(len(sup))]
			run, err := Start(context.Background(), s, tab, [][]int32{tab.states[a]}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			p := run.Kernel.(*mhKernel).p
			const draws = 20000
			count := make([]float64, len(tab.states))
			y := make([]int32, tab.dom.Len())
			for range draws {
				copy(y, tab.states[a])
				lq := p.propose(0, tab.states[a], tab.grad[a], rng, y)
				if r := p.reverse(0, y, tab.states[a], tab.grad[a]); math.Abs(r-lq) > 1e-9 {
					t.Fatalf("%s: propose says log q = %g, reverse %g", s.Name(), lq, r)
				}
				count[tab.index(y)]++
			}
			want := make([]float64, len(count))
			for b, y := range tab.states {
				want[b] = math.Exp(p.reverse(0, y, tab.states[a], tab.grad[a]))
			}
			checkFrequencies(t, fmt.Sprintf("%s %+v", s.Name(), s), count, want, draws)
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

func TestNoEvaluationIsWasted(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	tab := newTable(rng, Categories(2, 3), 1, 0.2)
	run, err := Start(context.Background(), &DMALA{StepSize: 0.5}, tab, [][]int32{{0, 0}, {1, 1}, {2, 2}}, Options{})
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
	if tab.evals != want || moved == 1500 {
		t.Errorf("%d evaluations, want one per start and moved proposal (%d); %d of 1500 moved", tab.evals, want, moved)
	}
}

// TestChainsDoNotMatterToEachOther runs the same chain alone and among others.
func TestChainsDoNotMatterToEachOther(t *testing.T) {
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
			run, err := Start(context.Background(), s, tab, starts[first:first+n], Options{Seed: 9, ID: "x", First: first, Burnin: 40})
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
