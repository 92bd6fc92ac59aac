package kernels

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"infill/lab/internal/domain"
	"infill/samplers"
)

// The proposals of PAS, GWGX and RWM have more than one way from a state to another. A way is drawn
// with the probability that forward gives, and back is what Reverse says of it.

// proposer is what these samplers give samplers.NewMH.
type proposer interface {
	samplers.Proposal
	Tuning(k int) map[string]float64
}

// proposerOf attaches a sampler to one chain of a table.
func proposerOf(t *testing.T, s samplers.Sampler, d *samplers.Domain) proposer {
	t.Helper()
	c := &samplers.Chains{Domain: d, X: make([][]int32, 1)}
	var p proposer
	var err error
	switch s := s.(type) {
	case *PAS:
		p, err = s.proposer(c)
	case *GWGX:
		p, err = s.proposer(c)
	case *RWM:
		p, err = s.proposer(c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// paths lists every way in which the proposer can go from x to y: for a
// factorised proposal there is one, for a path sampler one per path and, where
// their number is drawn, per number of changes. Each call of visit has the
// proposer's auxiliary state set, and gets the probability of that number.
func paths(p proposer, x, y []int32, visit func(prob float64)) {
	switch p := p.(type) {
	case *pasProposer:
		prob := probOfCount(p.r[0], hamming(x, y))
		if prob == 0 || p.dom.Check(y) != nil {
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
	case *gwgxProposer:
		for n := 1; n <= cap(p.path[0]); n++ {
			if prob := probOfCount(p.r[0], n); prob > 0 {
				p.path[0] = p.path[0][:n]
				p.walk(0, x, x, y, func() { visit(prob) })
			}
		}
	case *rwmProposer:
		if prob := probOfCount(p.r[0], hamming(x, y)); prob > 0 && p.dom.Check(y) == nil {
			visit(prob)
		}
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
func (p *gwgxProposer) walk(r int, x, at, y []int32, visit func()) {
	path := p.path[0]
	if r == len(path) {
		visit()
		return
	}
	for _, i := range p.sites.free {
		for v := range int32(p.dom.K(int(i))) {
			if v == x[i] || !p.dom.Allows(int(i), v) {
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
func forward(p proposer, x, y []int32, g []float64) float64 {
	switch p := p.(type) {
	case *pasProposer:
		p.score(x, g)
		return p.logPath(p.path[0], x, y, g, false)
	case *gwgxProposer:
		p.score(x, g)
		lse, lq := logSumExp(p.lw), 0.0
		for _, d := range p.path[0] {
			lq += p.pair(int(d.i), x[d.i], d.v, g) - lse
		}
		return lq
	case *rwmProposer:
		lq := 0.0
		for i := range x {
			if x[i] != y[i] {
				lq -= math.Log(float64(p.dom.Support(i) - 1))
			}
		}
		return lq - math.Log(binomial(len(p.free), hamming(x, y)))
	}
	panic("another proposal")
}

func binomial(n, k int) float64 {
	b := 1.0
	for j := range k {
		b *= float64(n-j) / float64(j+1)
	}
	return b
}

// settings are the samplers with paths in several settings, on n coordinates that can change.
func settings(n int) []samplers.Sampler {
	out := []samplers.Sampler{&RWM{Flips: 1}, &RWM{Flips: 2}, &RWM{Flips: 1.3}, &RWM{Flips: float64(n) - 0.4},
		&PAS{}, &PAS{Flips: 1.7}, &PAS{Flips: float64(n) - 0.4, Balance: samplers.Ratio}, &GWGX{},
		&GWGX{Draws: 2, Balance: samplers.Ratio}}
	for _, g := range []samplers.Balance{samplers.Sqrt, samplers.Ratio, samplers.Max, samplers.Min} {
		out = append(out, &PAS{Balance: g, Flips: 1}, &PAS{Balance: g, Flips: 2}, &GWGX{Balance: g})
	}
	return out
}

// total is the probability of proposing y at x.
func total(p proposer, x, y []int32, g []float64) float64 {
	sum := 0.0
	paths(p, x, y, func(prob float64) { sum += prob * math.Exp(forward(p, x, y, g)) })
	return sum
}

// balanceError enumerates the Metropolis–Hastings kernel of a proposal, with the probability of
// every way back by Reverse, and returns the largest violation of π(x)K(x,y) = π(y)K(y,x) and of
// Σ_y q(x→y) = 1. With breakIt the ratio lacks a term.
func balanceError(t *testing.T, tab *tableTarget, s samplers.Sampler, breakIt bool) (balance, norm float64) {
	t.Helper()
	p := proposerOf(t, s, tab.dom)
	_, symmetric := p.(*rwmProposer)
	sup := tab.support()
	K := matrix[float64](len(tab.states), len(tab.states))
	for _, a := range sup {
		x, sum := tab.states[a], 0.0
		for b, y := range tab.states {
			if tab.dom.Check(y) != nil {
				if total(p, x, y, tab.grad[a]) > 0 {
					t.Errorf("%s proposes a state outside the support", s.Info().Name)
				}
				continue
			}
			paths(p, x, y, func(prob float64) {
				lq := forward(p, x, y, tab.grad[a])
				sum += prob * math.Exp(lq)
				if a == b {
					return
				}
				la := tab.u[b] - tab.u[a] - lq
				switch {
				case symmetric && breakIt:
					la = 0
				case symmetric: // it leaves both terms out
					la += lq
				case !breakIt:
					la += p.Reverse(0, x, y, tab.grad[b])
				}
				K[a][b] += prob * math.Exp(lq) * math.Min(1, math.Exp(la))
			})
		}
		norm = math.Max(norm, math.Abs(sum-1))
	}
	moves := 0.0
	for _, a := range sup {
		for _, b := range sup {
			moves += tab.pi(a) * K[a][b]
			balance = math.Max(balance, math.Abs(tab.pi(a)*K[a][b]-tab.pi(b)*K[b][a]))
		}
	}
	if moves < 1e-4 { // staying for ever is balanced too
		t.Errorf("%s moves with probability %g", s.Info().Name, moves)
	}
	return balance, norm
}

// TestDetailedBalance: the kernels leave π as it is, and without a term of their ratio they do not,
// so that the test has power.
func TestDetailedBalance(t *testing.T) {
	t.Parallel()
	eachTable(t, 40, func(t *testing.T, _ *rand.Rand, tab *tableTarget) {
		for _, s := range settings(tab.dom.Len()) {
			if b, n := balanceError(t, tab, s, false); b > 1e-9 || n > 1e-9 {
				t.Errorf("%s %+v: balance violated by %g, proposal sums to 1 within %g", s.Info().Name, s, b, n)
			}
			if b, _ := balanceError(t, tab, s, true); b < 1e-5 {
				t.Errorf("%s %+v without a term of its ratio violates balance by %g only", s.Info().Name, s, b)
			}
		}
	})
}

// TestProposalDraws: states are drawn with the probabilities that the enumeration takes them to
// have, and Propose says the same.
func TestProposalDraws(t *testing.T) {
	t.Parallel()
	eachTable(t, repeats(8, 4), func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		for _, s := range settings(tab.dom.Len()) {
			p, sup := proposerOf(t, s, tab.dom), tab.support()
			a := sup[rng.IntN(len(sup))]
			x := tab.states[a]
			const draws = 5000
			count := make([]float64, len(tab.states))
			y := make([]int32, tab.dom.Len())
			for range draws {
				copy(y, x)
				lq := p.Propose(0, x, tab.grad[a], rng, y)
				if f := forward(p, x, y, tab.grad[a]); !(math.Abs(f-lq) < 1e-9) && s.Info().Name != "rwm" {
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
					want[b] = total(p, x, y, tab.grad[a])
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

// TestAnyNumberOfFlipsIsIrreducible: fixed even numbers of flips, and all of
// them, reach every state of a binary target.
func TestAnyNumberOfFlipsIsIrreducible(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 4))
	tab := newTable(rng, domain.Bits(4), 0.3, 0.1)
	for _, r := range []float64{2, 4} {
		for _, s := range []samplers.Sampler{&RWM{Flips: r}, &PAS{Flips: r}} {
			x0 := make([][]int32, repeats(2000, 800))
			for k := range x0 {
				x0[k] = make([]int32, 4)
			}
			run, err := samplers.Start(context.Background(), s, tab, x0, samplers.Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if err := run.Steps(context.Background(), 400, nil); err != nil {
				t.Fatal(err)
			}
			if tv, limit := tvToPi(tab, run.X); tv > limit {
				t.Errorf("%s with %g flips: total variation %.3f, limit %.3f", s.Info().Name, r, tv, limit)
			}
		}
	}
}

// TestNoSinglesKeepsR: without proposals of a single coordinate two flips at a time never change
// how many ones there are from even to odd, which shows that R is what every proposal has.
func TestNoSinglesKeepsR(t *testing.T) {
	t.Parallel()
	tab := newTable(rand.New(rand.NewPCG(5, 6)), domain.Bits(4), 0.3, 0.1)
	for _, spec := range []string{"rwm:flips=2,singles=no", "pas:flips=2,singles=no"} {
		name, params, err := samplers.ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(name, params)
		if err != nil {
			t.Fatal(err)
		}
		run, err := samplers.Start(context.Background(), s, tab, [][]int32{make([]int32, 4)}, samplers.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		moved := false
		err = run.Steps(context.Background(), 300, func(r *samplers.Run) error {
			ones := 0
			for _, v := range r.X[0] {
				ones += int(v)
			}
			moved = moved || ones > 0
			if ones%2 != 0 {
				t.Errorf("%s is at %v", spec, r.X[0])
			}
			return nil
		})
		if err != nil || !moved {
			t.Errorf("%s: moved %v, %v", spec, moved, err)
		}
	}
}

// TestNoSinglesOfAdaptedDraws: the adapted number of draws is never 1 where it is above 2.
func TestNoSinglesOfAdaptedDraws(t *testing.T) {
	t.Parallel()
	for _, off := range []bool{false, true} {
		p := proposerOf(t, &GWGX{Draws: 3, NoSingles: off}, domain.Bits(4)).(*gwgxProposer)
		rng, singles := rand.New(rand.NewPCG(5, 7)), 0
		for range 1000 {
			if p.draw(0, rng) == 1 {
				singles++
			}
		}
		if off != (singles == 0) {
			t.Errorf("NoSingles %v: %d of 1000 proposals draw once", off, singles)
		}
	}
}

func TestDrawHasMeanR(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 5))
	c := &counter{r: []float64{2.3}, free: make([]int32, 9)}
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
			checkFrequencies(
				t, "flips for R = 2.3", count,
				[]float64{0, probOfCount(2.3, 1), probOfCount(2.3, 2), probOfCount(2.3, 3)}, n,
			)
		}
		if want := one + (1-one)*2.3; math.Abs(sum/n-want) > 0.015 {
			t.Errorf("mean number of flips %.3f, want %.3f", sum/n, want)
		}
	}
}

// A number of changes is at most the number of coordinates, also where exp(log n) is above n.
func TestDrawAtItsBound(t *testing.T) {
	t.Parallel()
	over := 0
	for n := 1; n < 200; n++ {
		r := math.Exp(math.Log(float64(n)))
		c := counter{r: []float64{r}, free: make([]int32, n)}
		rng := rand.New(zeros{})
		if got := c.draw(0, rng); got > n {
			t.Fatalf("%d of %d coordinates", got, n)
		}
		if r > float64(n) {
			over++
		}
	}
	if over == 0 {
		t.Error("no number is above its bound: the test says nothing")
	}
}

// zeros is a source of nothing else.
type zeros struct{}

func (zeros) Uint64() uint64 { return 0 }
