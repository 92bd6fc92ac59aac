package samplers

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The samplers that draw from energies or conditionals are enumerated through
// their own Step: it runs on a source of numbers that the test dictates, once
// for every outcome of its draws. What is checked is what users run, including
// the draws themselves.

// script is a source that gives out dictated numbers and counts what is asked
// for; after the last one it gives zeros.
type script struct {
	vals []uint64
	at   int
}

func (s *script) Uint64() uint64 {
	s.at++
	if s.at <= len(s.vals) {
		return s.vals[s.at-1]
	}
	return 0
}

// intBits is a number for which IntN(n) is j, far from those that IntN rejects.
func intBits(t *testing.T, n, j int) uint64 {
	b := uint64(j)
	if n&(n-1) != 0 {
		b = uint64((float64(j)+0.5)/float64(n)*(1<<32)) << 32
	}
	s := &script{vals: []uint64{b}}
	if got := rand.New(s).IntN(n); got != j || s.at != 1 {
		t.Fatalf("IntN(%d) of the dictated number is %d after %d draws, want %d", n, got, s.at, j)
	}
	return b
}

// floatScale is 2^53: the number m gives Float64() = m/floatScale.
const floatScale = 1 << 53

// driver runs one step of one chain on dictated draws.
type driver struct {
	t   *testing.T
	tab *tableTarget
	run *Run
	src *script
}

func newDriver(t *testing.T, tab *tableTarget, target Target, s Sampler) *driver {
	t.Helper()
	run, err := Start(
		context.Background(), s, target, [][]int32{tab.states[tab.support()[0]]}, Options{},
	)
	if err != nil {
		t.Fatal(s.Info().Name, err)
	}
	d := &driver{t: t, tab: tab, run: run, src: &script{}}
	run.RNG[0] = rand.New(d.src)
	if f := run.RNG[0].Float64(); f != 0 {
		t.Fatalf("Float64 of 0 is %g", f)
	}
	d.src.vals, d.src.at = []uint64{floatScale / 4}, 0
	if f := run.RNG[0].Float64(); f != 0.25 {
		t.Fatalf("Float64 of 2^51 is %g, want ¼", f)
	}
	return d
}

// step is step number done from state a on the dictated draws: the index of
// the next state and the number of draws that it took.
func (d *driver) step(a, done int, vals []uint64) (next, draws int) {
	r := d.run
	copy(r.X[0], d.tab.states[a])
	r.done = done
	if err := r.kernel.Prepare(context.Background()); err != nil {
		d.t.Fatal(err)
	}
	d.src.vals, d.src.at = vals, 0
	if err := r.kernel.Step(context.Background()); err != nil {
		d.t.Fatal(err)
	}
	return d.tab.index(r.X[0]), d.src.at
}

// ints are the sizes of the uniform integers that a step begins with; all
// other draws are Float64.
func (d *driver) ints() []int {
	if gibbsOf(d.run.kernel).systematic {
		return nil
	}
	return []int{d.tab.dom.Len()}
}

// gibbsOf is the proposer of gibbs and gibbs-mh, or of its broken copy.
func gibbsOf(k Kernel) *gibbsProposer {
	m := k.(*mhKernel)
	if f, ok := m.p.(forgetsOld); ok {
		return f.gibbsProposer
	}
	return m.p.(*gibbsProposer)
}

// row adds the probabilities of every next state to out.
func (d *driver) row(a, done int, out []float64) {
	ints := d.ints()
	var rec func(vals []uint64, p float64)
	rec = func(vals []uint64, p float64) {
		if len(vals) < len(ints) {
			n := ints[len(vals)]
			for j := range n {
				rec(append(slices.Clone(vals), intBits(d.t, n, j)), p/float64(n))
			}
			return
		}
		next, draws := d.step(a, done, vals)
		if draws <= len(vals) {
			out[next] += p
			return
		}
		d.split(a, done, vals, func(m uint64, width float64) {
			rec(append(slices.Clone(vals), m), p*width)
		})
	}
	rec(nil, 1)
}

// resolution is how finely a boundary between two outcomes of a Float64 is
// found: probabilities come out within 2^-38.
const resolution = floatScale >> 38

// split cuts [0, 1) into the intervals of the next Float64 with the same
// outcome when what is drawn after it is 0. Draws are monotone (a cumulative
// search, an acceptance), no two values lead to the same outcome, and so
// bisection finds all boundaries. The kernel's scratch tells where to look
// first; only outcomes decide.
func (d *driver) split(a, done int, vals []uint64, f func(m uint64, width float64)) {
	type outcome struct{ next, draws int }
	at := func(m uint64) outcome {
		n, w := d.step(a, done, append(slices.Clone(vals), m))
		return outcome{n, w}
	}
	probes := []uint64{0, floatScale - 1}
	at(0)
	for _, h := range d.hints(len(vals) == len(d.ints())) {
		if h > 0 && h < 1 {
			m := uint64(h * floatScale)
			if m > resolution && m < floatScale-resolution {
				probes = append(probes, m-resolution/4, m+resolution/4)
			}
		}
	}
	slices.Sort(probes)
	start := uint64(0)
	var cut func(lo, hi uint64, olo, ohi outcome)
	cut = func(lo, hi uint64, olo, ohi outcome) {
		if olo == ohi {
			return
		}
		if hi-lo <= resolution {
			mid := (lo + hi) / 2
			f(start, float64(mid-start)/floatScale)
			start = hi
			return
		}
		mid := (lo + hi) / 2
		om := at(mid)
		cut(lo, mid, olo, om)
		cut(mid, hi, om, ohi)
	}
	last := at(0)
	for j := 1; j < len(probes); j++ {
		o := at(probes[j])
		cut(probes[j-1], probes[j], last, o)
		last = o
	}
	f(start, float64(floatScale-start)/floatScale)
}

// hints are where the boundaries of the first Float64 of the last step probably
// are, or of the one after it, which decides about acceptance.
func (d *driver) hints(first bool) []float64 {
	if !first {
		return []float64{d.run.Last[0].Prob}
	}
	lw := gibbsOf(d.run.kernel).lp[0]
	var out []float64
	lse, sum := logSumExp(lw), 0.0
	for _, w := range lw {
		sum += math.Exp(w - lse)
		out = append(out, sum)
	}
	return out
}

// kernel is the transition matrix of step number done.
func (d *driver) kernel(done int) [][]float64 {
	n := len(d.tab.states)
	K := matrix[float64](n, n)
	for _, a := range d.tab.support() {
		d.row(a, done, K[a])
	}
	return K
}

// kernelErrors are the largest violations of detailed balance and, over one
// period of the sampler, of π K = π. A systematic scan has the period of a
// sweep: its sweep is not reversible, but each of its updates is, and their
// product leaves π as it is. All others have period 1.
func kernelErrors(
	t *testing.T, tab *tableTarget, target Target, s Sampler, period int,
) (balance, stationary float64) {
	t.Helper()
	d := newDriver(t, tab, target, s)
	sup := tab.support()
	law := make([]float64, len(tab.states))
	for _, a := range sup {
		law[a] = tab.pi(a)
	}
	moves := 0.0
	for done := range period {
		K := d.kernel(done)
		next := make([]float64, len(law))
		for _, a := range sup {
			sum := 0.0
			for b, p := range K[a] {
				if p > 0 && math.IsInf(tab.u[b], -1) {
					t.Errorf("%s goes to a state outside the support", s.Info().Name)
				}
				sum += p
				next[b] += law[a] * p
				if a != b {
					moves += law[a] * p
				}
				balance = math.Max(balance, math.Abs(tab.pi(a)*p-tab.pi(b)*K[b][a]))
			}
			if math.Abs(sum-1) > 1e-10 {
				t.Errorf("%s: probabilities from %v sum to %g", s.Info().Name, tab.states[a], sum)
			}
		}
		law = next
	}
	for a := range law {
		stationary = math.Max(stationary, math.Abs(law[a]-tab.pi(a)))
	}
	if moves < 0.01 { // staying for ever is balanced too
		t.Errorf("%s moves with probability %g in a period of %d", s.Info().Name, moves, period)
	}
	return balance, stationary
}

// TestEnergySamplersDetailedBalance is the counterpart of TestDetailedBalance
// for the samplers that are not Metropolis–Hastings proposals.
func TestEnergySamplersDetailedBalance(t *testing.T) {
	t.Parallel()
	eachTable(t, 32, func(t *testing.T, _ *rand.Rand, tab *tableTarget) {
		n := tab.dom.Len()
		for _, c := range []struct {
			name   string
			s      Sampler
			target Target
			period int
		}{
			{"gibbs-mh", &GibbsMH{}, tab, 1},
			{"gibbs-mh systematic", &GibbsMH{Systematic: true}, tab, n},
		} {
			b, s := kernelErrors(t, tab, c.target, c.s, c.period)
			if b > 1e-9 || s > 1e-9 {
				t.Errorf("%s: detailed balance violated by %g, π K = π by %g", c.name, b, s)
			}
		}
	})
}

// TestEnergySamplersOfManyCategories is the same on four coordinates of five
// categories or, in the usual run, on three.
func TestEnergySamplersOfManyCategories(t *testing.T) {
	t.Parallel()
	tab := newTable(rand.New(rand.NewPCG(12, 7)), Categories(repeats(4, 3), 5), 1, 0.5)
	if b, st := kernelErrors(t, tab, tab, &GibbsMH{}, 1); b > 1e-9 || st > 1e-9 {
		t.Errorf("detailed balance violated by %g, π K = π by %g", b, st)
	}
}
