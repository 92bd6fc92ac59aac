package samplers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// paths lists every way in which the proposer can go from x to y: for a
// factorised proposal there is one, for a path sampler one per path. Each call
// of visit has the proposer's auxiliary state set.
func paths(m *mhKernel, x, y []int32, visit func()) {
	switch p := m.p.(type) {
	case *pasProposer:
		if p.fac.dom.Check(y) != nil {
			return
		}
		var sites []int32
		for j, i := range p.sites.free {
			if x[i] != y[i] {
				sites = append(sites, int32(j))
			}
		}
		if len(sites) != int(p.r[0]) {
			return
		}
		permute(sites, 0, func() {
			p.path[0] = append(p.path[0][:0], sites...)
			visit()
		})
	case *gwgProposer:
		if p.counter != nil {
			p.path[0] = p.path[0][:int(p.counter.r[0])]
		}
		var rec func(r int, at []int32)
		rec = func(r int, at []int32) {
			if r == len(p.path[0]) {
				if hamming(at, y) == 0 {
					visit()
				}
				return
			}
			for _, i := range p.free {
				for v := range int32(p.fac.dom.K(int(i))) {
					if v != x[i] && p.fac.dom.Allows(int(i), v) {
						next := append([]int32(nil), at...)
						next[i] = v
						p.path[0][r] = pick{i, v}
						rec(r+1, next)
					}
				}
			}
		}
		rec(0, x)
	case *rwmProposer:
		if hamming(x, y) == int(p.r[0]) && p.dom.Check(y) == nil {
			visit()
		}
	default:
		visit()
	}
}

func permute(a []int32, n int, f func()) {
	if n == len(a) {
		f()
		return
	}
	for j := n; j < len(a); j++ {
		a[n], a[j] = a[j], a[n]
		permute(a, n+1, f)
		a[n], a[j] = a[j], a[n]
	}
}

// forward is log q(x→y) along the auxiliary state that is set.
func forward(m *mhKernel, x, y []int32, g []float64) float64 {
	switch p := m.p.(type) {
	case *pasProposer:
		p.score(x, g)
		return p.logPath(p.path[0], x, y, g, false)
	case *gwgProposer:
		p.score(x, g)
		lse, lq := logSumExp(p.lw), 0.0
		for _, d := range p.path[0] {
			lq += p.pair(int(d.i), x[d.i], d.v, g) - lse
		}
		return lq
	case *rwmProposer:
		lq := 0.0
		for i, n := range p.dom.free {
			if x[i] != y[i] {
				lq -= math.Log(float64(n - 1))
			}
		}
		return lq - math.Log(binomial(len(p.free), int(p.r[0])))
	default:
		return m.p.reverse(0, y, x, g)
	}
}

func binomial(n, k int) float64 {
	b := 1.0
	for j := range k {
		b *= float64(n-j) / float64(j+1)
	}
	return b
}

// balanceError enumerates the one-step kernel of a Metropolis–Hastings
// sampler, as the code itself computes it (proposal probabilities from the
// proposer, acceptance from mhKernel.decide), and returns the largest
// violation of π(x)K(x,y) = π(y)K(y,x), and of Σ_y q(x→y) = 1. With breakIt the
// reverse proposal is left out of the acceptance ratio.
func balanceError(t *testing.T, tab *tableTarget, s Sampler, breakIt bool) (balance, norm float64) {
	t.Helper()
	sup := tab.support()
	run, err := Start(context.Background(), s, tab, [][]int32{tab.states[sup[0]]}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := run.Kernel.(*mhKernel)
	if m.sched != nil {
		m.sched.schedule(0, 0)
	}
	p := m.p
	n := len(tab.states)
	K := matrix[float64](n, n)
	_, symmetric := p.(*rwmProposer)
	for _, a := range sup {
		x := tab.states[a]
		sum := 0.0
		for b, y := range tab.states {
			if tab.dom.Check(y) != nil {
				if forwardTotal(m, x, y, tab.grad[a]) > 0 {
					t.Errorf("%s proposes a state outside the support", s.Name())
				}
				continue
			}
			paths(m, x, y, func() {
				lq := forward(m, x, y, tab.grad[a])
				sum += math.Exp(lq)
				if a == b {
					return
				}
				copy(run.X[0], x)
				run.U[0] = tab.u[a]
				copy(m.y[0], y)
				if m.gy != nil {
					copy(run.Grad[0], tab.grad[a])
					copy(m.gy[0], tab.grad[b])
				}
				m.fwd[0] = lq
				if symmetric { // it leaves both terms out
					m.fwd[0] = 0
				}
				run.Last[0] = Move{Moved: true, Flips: 1}
				if breakIt {
					m.p = forgetReverse{p}
				}
				m.decide(0, tab.u[b])
				m.p = p
				K[a][b] += math.Exp(lq) * run.Last[0].Prob
			})
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

func forwardTotal(m *mhKernel, x, y []int32, g []float64) float64 {
	sum := 0.0
	paths(m, x, y, func() { sum += math.Exp(forward(m, x, y, g)) })
	return sum
}

// forgetReverse is a deliberately wrong sampler: it leaves the reverse
// proposal out of the acceptance ratio.
type forgetReverse struct{ proposer }

func (f forgetReverse) reverse(k int, x, y []int32, gy []float64) float64 { return 0 }

// mhSamplers are the Metropolis–Hastings samplers in several settings, on a
// domain of n coordinates that can change.
func mhSamplers(n int) []Sampler {
	out := []Sampler{
		&DMALA{}, &RWM{Flips: 1}, &RWM{Flips: 2}, &AB{}, &ACS{}, &DLMC{}, &DLMCf{}, &PAS{}, &GWG{},
		&AB{StepSize: 3, Beta: 0.8}, &ACS{AlphaMax: 2, AlphaMin: 0.5}, &ACS{AlphaMax: 3, AlphaMin: 0.2, Power: 4, Cycle: 5}, &GWG{Draws: 2}, &GWG{Adapt: true}, &GWG{Draws: 3, Balance: Ratio},
		&DMALA{StepSize: 1, Precondition: []float64{0.3, 2, 1, 4}[:n]},
	}
	for _, g := range []Balance{Sqrt, Ratio, Max, Min} {
		out = append(out,
			&DMALA{StepSize: 0.7, Balance: g}, &DMALA{StepSize: 4, Balance: g},
			&DLMC{Time: 0.3, Balance: g}, &DLMC{Time: 3, Balance: g},
			&DLMCf{Time: 0.2, Balance: g}, &DLMCf{Time: 1.5, Balance: g},
			&GWG{Balance: g}, &PAS{Balance: g, Flips: 1}, &PAS{Balance: g, Flips: 2},
		)
	}
	return out
}

func TestDetailedBalance(t *testing.T) {
	eachTable(t, 40, func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		for _, s := range mhSamplers(tab.dom.Len()) {
			b, n := balanceError(t, tab, s, false)
			if b > 1e-9 || n > 1e-9 {
				t.Errorf("%s %+v: balance violated by %g, proposal sums to 1 within %g", s.Name(), s, b, n)
			}
		}
	})
}

func TestBrokenSamplerFailsDetailedBalance(t *testing.T) {
	eachTable(t, 40, func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		for _, s := range mhSamplers(tab.dom.Len()) {
			if s.Name() == "rwm" { // symmetric: there is no term to forget
				continue
			}
			if b, _ := balanceError(t, tab, s, true); b < 1e-5 {
				t.Errorf("%s %+v without its reverse term violates balance by %g only: the test has no power", s.Name(), s, b)
			}
		}
	})
}

// TestProposalDraws checks that states are drawn with the probabilities that
// the enumeration above takes them to have, and that propose claims the same:
// the other half of what makes the enumerated kernel the real one.
func TestProposalDraws(t *testing.T) {
	eachTable(t, 8, func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		for _, s := range mhSamplers(tab.dom.Len()) {
			sup := tab.support()
			a := sup[rng.IntN(len(sup))]
			x := tab.states[a]
			run, err := Start(context.Background(), s, tab, [][]int32{x}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			m := run.Kernel.(*mhKernel)
			if m.sched != nil {
				m.sched.schedule(0, 0)
			}
			switch p := m.p.(type) { // the enumeration is for a fixed R
			case *pasProposer:
				p.one = 0
			case *gwgProposer:
				if p.counter != nil {
					p.counter.one = 0
				}
			case *rwmProposer:
				p.one = 0
			}
			const draws = 5000
			count := make([]float64, len(tab.states))
			y := make([]int32, tab.dom.Len())
			for range draws {
				copy(y, x)
				lq := m.p.propose(0, x, tab.grad[a], rng, y)
				if f := forward(m, x, y, tab.grad[a]); math.Abs(f-lq) > 1e-9 && s.Name() != "rwm" {
					t.Fatalf("%s: propose says log q = %g, enumeration %g", s.Name(), lq, f)
				}
				if err := tab.dom.Check(y); err != nil {
					t.Fatalf("%s proposes a state outside the support: %v", s.Name(), err)
				}
				count[tab.index(y)]++
			}
			want := make([]float64, len(count))
			for b, y := range tab.states {
				if tab.dom.Check(y) == nil {
					want[b] = forwardTotal(m, x, y, tab.grad[a])
				}
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

// TestAnyNumberOfFlipsIsIrreducible: fixed even numbers of flips, and all of
// them, reach every state of a binary target.
func TestAnyNumberOfFlipsIsIrreducible(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 4))
	tab := newTable(rng, Bits(4), 0.3, 0.1)
	for _, r := range []float64{2, 4} {
		for _, s := range []Sampler{&RWM{Flips: r}, &PAS{Flips: r}} {
			x0 := make([][]int32, 2000)
			for k := range x0 {
				x0[k] = make([]int32, 4)
			}
			run, err := Start(context.Background(), s, tab, x0, Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if err := run.Steps(context.Background(), 400, nil); err != nil {
				t.Fatal(err)
			}
			if tv, limit := tvToPi(tab, run.X); tv > limit {
				t.Errorf("%s with %g flips: total variation %.3f, limit %.3f", s.Name(), r, tv, limit)
			}
		}
	}
}

func TestDrawHasMeanR(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	c := &counter{r: []float64{2.3}}
	for _, one := range []float64{0, singleChange} {
		c.one = one
		sum := 0.0
		const n = 100000
		for range n {
			d := c.draw(0, rng)
			if d < 1 || d > 3 {
				t.Fatalf("drew %d flips for R = 2.3", d)
			}
			sum += float64(d)
		}
		if want := one + (1-one)*2.3; math.Abs(sum/n-want) > 0.015 {
			t.Errorf("mean number of flips %.3f, want %.3f", sum/n, want)
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
// accepted, adapting to an acceptance rate must not end in doing only that.
func TestAdaptationOnSymmetricTarget(t *testing.T) {
	s := symmetric{Bits(4)}
	for _, info := range List() {
		if info.Needs != "gradients" && info.Name != "rwm" {
			continue
		}
		smp, err := New(info.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		run, err := Start(context.Background(), smp, s, [][]int32{{0, 0, 0, 0}}, Options{Seed: 1, Burnin: 500})
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
