package samplers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// paths lists every way in which the proposer can go from x to y: for a
// factorised proposal there is one, for a path sampler one per path and, where
// their number is drawn, per number of changes. Each call of visit has the
// proposer's auxiliary state set, and gets the probability of that number.
func paths(m *mhKernel, x, y []int32, visit func(prob float64)) {
	switch p := m.p.(type) {
	case *pasProposer:
		prob := probOfCount(p.r[0], hamming(x, y))
		if prob == 0 || p.fac.dom.Check(y) != nil {
			return
		}
		var sites []int32
		for j, i := range p.sites.free {
			if x[i] != y[i] {
				sites = append(sites, int32(j))
			}
		}
		permute(sites, 0, func() {
			p.path[0] = append(p.path[0][:0], sites...)
			visit(prob)
		})
	case *gwgProposer:
		if p.counter == nil {
			p.walk(0, x, x, y, func() { visit(1) })
			return
		}
		for n := 1; n <= cap(p.path[0]); n++ {
			if prob := probOfCount(p.counter.r[0], n); prob > 0 {
				p.path[0] = p.path[0][:n]
				p.walk(0, x, x, y, func() { visit(prob) })
			}
		}
	case *rwmProposer:
		if prob := probOfCount(p.r[0], hamming(x, y)); prob > 0 && p.dom.Check(y) == nil {
			visit(prob)
		}
	default:
		visit(1)
	}
}

// probOfCount is the probability of n changes at R = r as the documentation
// has it: one proposal in sixteen changes a single coordinate, the others ⌊R⌋ or
// ⌈R⌉ with mean R.
func probOfCount(r float64, n int) float64 {
	p, low := 0.0, math.Floor(r)
	if n == 1 {
		p = 1.0 / 16
	}
	switch float64(n) {
	case low:
		p += 15.0 / 16 * (1 - (r - low))
	case low + 1:
		p += 15.0 / 16 * (r - low)
	}
	return p
}

// walk sets the draws from number r on in every way that leads from x, now at
// at, to y.
func (p *gwgProposer) walk(r int, x, at, y []int32, visit func()) {
	path := p.path[0]
	if r == len(path) {
		visit()
		return
	}
	for _, i := range p.free {
		for v := range int32(p.fac.dom.K(int(i))) {
			if v == x[i] || !p.fac.dom.Allows(int(i), v) {
				continue
			}
			next := append([]int32(nil), at...)
			next[i] = v
			if hamming(next, y) < len(path)-r { // the draws left can do that
				path[r] = pick{i, v}
				p.walk(r+1, x, next, y, visit)
			}
		}
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
		return lq - math.Log(binomial(len(p.free), hamming(x, y)))
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
// reverse proposal is left out of the acceptance ratio or, where it is
// symmetric and there is no such term (RWM), the difference of the energies.
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
	rows := sup
	if len(rows) > 150 { // pairs of some of many states, near and far
		rows = append([]int(nil), sup[:15]...)
		for j := range 10 {
			rows = append(rows, sup[15+j*(len(sup)-15)/10])
		}
	}
	K := matrix[float64](n, n)
	_, symmetric := p.(*rwmProposer)
	for _, a := range rows {
		x := tab.states[a]
		sum := 0.0
		for b, y := range tab.states {
			if tab.dom.Check(y) != nil {
				if forwardTotal(m, x, y, tab.grad[a]) > 0 {
					t.Errorf("%s proposes a state outside the support", s.Name())
				}
				continue
			}
			paths(m, x, y, func(prob float64) {
				lq := forward(m, x, y, tab.grad[a])
				sum += prob * math.Exp(lq)
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
				u := tab.u[b]
				if breakIt {
					m.p = forgetReverse{p}
					if symmetric {
						u = tab.u[a]
					}
				}
				m.decide(0, u)
				m.p = p
				K[a][b] += prob * math.Exp(lq) * run.Last[0].Prob
			})
		}
		norm = math.Max(norm, math.Abs(sum-1))
	}
	for _, a := range rows {
		for _, b := range rows {
			balance = math.Max(balance, math.Abs(tab.pi(a)*K[a][b]-tab.pi(b)*K[b][a]))
		}
	}
	return balance, norm
}

func forwardTotal(m *mhKernel, x, y []int32, g []float64) float64 {
	sum := 0.0
	paths(m, x, y, func(prob float64) { sum += prob * math.Exp(forward(m, x, y, g)) })
	return sum
}

// forgetReverse is a deliberately wrong sampler: it leaves the reverse
// proposal out of the acceptance ratio.
type forgetReverse struct{ proposer }

func (f forgetReverse) reverse(k int, x, y []int32, gy []float64) float64 { return 0 }

// averageDraws is GWG with an adapted number of draws, at X = r.
type averageDraws struct {
	GWG
	r float64
}

func (s *averageDraws) Attach(c *Chains) (Kernel, error) {
	k, err := s.GWG.Attach(c)
	if err == nil {
		p := k.(*mhKernel).p.(*gwgProposer)
		for j := range p.counter.r {
			p.counter.r[j] = s.r
		}
	}
	return k, err
}

// mhSamplers are the Metropolis–Hastings samplers in several settings, on a
// domain of n coordinates that can change.
func mhSamplers(n int) []Sampler {
	out := []Sampler{
		&DMALA{}, &RWM{Flips: 1}, &RWM{Flips: 2}, &AB{}, &ACS{}, &DLMC{}, &DLMCf{}, &PAS{}, &GWG{},
		&AB{StepSize: 3, Beta: 0.8}, &ACS{AlphaMax: 2, AlphaMin: 0.5}, &ACS{AlphaMax: 3, AlphaMin: 0.2, Power: 4, Cycle: 5}, &GWG{Draws: 2}, &GWG{Adapt: true}, &GWG{Draws: 3, Balance: Ratio},
		&DMALA{StepSize: 1, Precondition: []float64{0.3, 2, 1, 4}[:n]},
		&PAS{Flips: 1.7}, &PAS{Flips: float64(n) - 0.4, Balance: Ratio}, &RWM{Flips: 1.3}, &RWM{Flips: float64(n) - 0.4},
		&averageDraws{GWG{Adapt: true}, 1.6},
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

// TestDetailedBalanceOfManyCategories is the same on the largest of the small
// domains: pairs of 25 states of four coordinates of five categories.
func TestDetailedBalanceOfManyCategories(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 7))
	for _, d := range []*Domain{Categories(4, 5), Integers(4, 5, -2)} {
		tab := newTable(rng, d, 1, 0.5)
		for _, s := range mhSamplers(4) {
			if g, ok := s.(*GWG); ok && g.Draws > 1 || testing.Short() && s.Name() != "pas" {
				continue // thousands of paths
			}
			if b, n := balanceError(t, tab, s, false); b > 1e-9 || n > 1e-9 {
				t.Errorf("%s %+v: balance violated by %g, proposal sums to 1 within %g", s.Name(), s, b, n)
			}
			if b, _ := balanceError(t, tab, s, true); b < 1e-6 {
				t.Errorf("%s %+v without a term of its ratio violates balance by %g only: the test has no power", s.Name(), s, b)
			}
		}
	}
}

func TestBrokenSamplerFailsDetailedBalance(t *testing.T) {
	eachTable(t, 40, func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		for _, s := range mhSamplers(tab.dom.Len()) {
			if b, _ := balanceError(t, tab, s, true); b < 1e-5 {
				t.Errorf("%s %+v without a term of its ratio violates balance by %g only: the test has no power", s.Name(), s, b)
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
			const draws = 5000
			count := make([]float64, len(tab.states))
			y := make([]int32, tab.dom.Len())
			for range draws {
				copy(y, x)
				lq := m.p.propose(0, x, tab.grad[a], rng, y)
				if f := forward(m, x, y, tab.grad[a]); !(math.Abs(f-lq) < 1e-9) && s.Name() != "rwm" {
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
		sum, count := 0.0, make([]float64, 4)
		const n = 100000
		for range n {
			d := c.draw(0, rng)
			if d < 1 || d > 3 {
				t.Fatalf("drew %d flips for R = 2.3", d)
			}
			sum += float64(d)
			count[d]++
		}
		if one > 0 {
			checkFrequencies(t, "flips for R = 2.3", count, []float64{0, probOfCount(2.3, 1), probOfCount(2.3, 2), probOfCount(2.3, 3)}, n)
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
