package kernels

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"infill/lab/internal/domain"
	"infill/samplers"
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
	run *samplers.Run
	of  samplers.Kernel // of the run
	src *script
}

// shows is a sampler that gives its kernel away.
type shows struct {
	samplers.Sampler
	kernel *samplers.Kernel
}

func (s shows) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	k, err := s.Sampler.Attach(c)
	*s.kernel = k
	return k, err
}

func newDriver(t *testing.T, tab *tableTarget, target samplers.Target, s samplers.Sampler) *driver {
	t.Helper()
	d := &driver{t: t, tab: tab, src: &script{}}
	run, err := samplers.Start(context.Background(), shows{s, &d.of}, target,
		[][]int32{tab.states[tab.support()[0]]}, samplers.Options{})
	if err != nil {
		t.Fatal(s.Info().Name, err)
	}
	d.run = run
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
func (d *driver) step(a int, vals []uint64) (next, draws int) {
	r := d.run
	copy(r.X[0], d.tab.states[a])
	if b, ok := d.of.(*ballKernel); ok { // each step leaves another order behind
		slices.Sort(b.perm[0])
	}
	if err := d.of.Prepare(context.Background()); err != nil {
		d.t.Fatal(err)
	}
	d.src.vals, d.src.at = vals, 0
	if err := d.of.Step(context.Background()); err != nil {
		d.t.Fatal(err)
	}
	return d.tab.index(r.X[0]), d.src.at
}

// ints are the sizes of the uniform integers that a step begins with; all
// other draws are Float64.
func (d *driver) ints() []int {
	switch k := d.of.(type) {
	case *exactGibbs:
		return []int{d.tab.dom.Len()}
	case *ballKernel:
		var out []int
		for j := range k.block {
			out = append(out, len(k.perm[0])-j)
		}
		if k.recentre {
			out = append(out, int(ballSize(k.c.Domain, k.perm[0][:k.block], k.radius)))
		}
		return out
	}
	return nil
}

// row adds the probabilities of every next state to out.
func (d *driver) row(a int, out []float64) {
	ints := d.ints()
	var rec func(vals []uint64, p float64)
	rec = func(vals []uint64, p float64) {
		if len(vals) < len(ints) {
			n := ints[len(vals)]
			if b, ok := d.of.(*ballKernel); ok && len(vals) == b.block {
				// The size of the ball depends on the block just chosen. IntN
				// would reject 0 for ever; it takes this number for any small n.
				d.step(a, append(slices.Clone(vals), 0x9E3779B9<<32))
				n = b.balls[0].n
			}
			for j := range n {
				rec(append(slices.Clone(vals), intBits(d.t, n, j)), p/float64(n))
			}
			return
		}
		next, draws := d.step(a, vals)
		if draws <= len(vals) {
			out[next] += p
			return
		}
		d.split(a, vals, func(m uint64, width float64) {
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
func (d *driver) split(a int, vals []uint64, f func(m uint64, width float64)) {
	type outcome struct{ next, draws int }
	at := func(m uint64) outcome {
		n, w := d.step(a, append(slices.Clone(vals), m))
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
	var lw []float64
	switch k := d.of.(type) {
	case *exactGibbs:
		lw = k.qs[0].u
	case *ballKernel:
		lw = k.u[:k.balls[0].n]
	case *halfBalanced:
		lw = k.cur[0]
		if d.run.Last[0].Accepted {
			lw = k.next[0]
		}
	case *lb1Kernel:
		lw = k.cur[0]
		if d.run.Last[0].Accepted { // it exchanged the two
			lw = k.next[0]
		}
	}
	var out []float64
	lse, sum := logSumExp(lw), 0.0
	for _, w := range lw {
		sum += math.Exp(w - lse)
		out = append(out, sum)
	}
	return out
}

// kernel is the transition matrix.
func (d *driver) kernel() [][]float64 {
	n := len(d.tab.states)
	K := matrix[float64](n, n)
	for _, a := range d.tab.support() {
		d.row(a, K[a])
	}
	return K
}

// kernelErrors are the largest violations of detailed balance and of π K = π.
func kernelErrors(
	t *testing.T, tab *tableTarget, target samplers.Target, s samplers.Sampler,
) (balance, stationary float64) {
	t.Helper()
	K := newDriver(t, tab, target, s).kernel()
	sup := tab.support()
	next := make([]float64, len(tab.states))
	moves := 0.0
	for _, a := range sup {
		sum := 0.0
		for b, p := range K[a] {
			if p > 0 && math.IsInf(tab.u[b], -1) {
				t.Errorf("%s goes to a state outside the support", s.Info().Name)
			}
			sum += p
			next[b] += tab.pi(a) * p
			if a != b {
				moves += tab.pi(a) * p
			}
			balance = math.Max(balance, math.Abs(tab.pi(a)*p-tab.pi(b)*K[b][a]))
		}
		if math.Abs(sum-1) > 1e-10 {
			t.Errorf("%s: probabilities from %v sum to %g", s.Info().Name, tab.states[a], sum)
		}
	}
	for a := range next {
		stationary = math.Max(stationary, math.Abs(next[a]-tab.pi(a)))
	}
	if moves < 0.01 { // staying for ever is balanced too
		t.Errorf("%s moves with probability %g", s.Info().Name, moves)
	}
	return balance, stationary
}

// TestEnergySamplersDetailedBalance has the samplers that are not Metropolis–Hastings proposals.
func TestEnergySamplersDetailedBalance(t *testing.T) {
	t.Parallel()
	eachTable(t, 32, func(t *testing.T, _ *rand.Rand, tab *tableTarget) {
		for _, c := range []struct {
			name   string
			s      samplers.Sampler
			target samplers.Target
		}{
			{"exact-gibbs", &ExactGibbs{}, tab},
			{"exact-gibbs conditionals", &ExactGibbs{}, conditionerTable{tab}},
			{"block-gibbs", &BlockGibbs{}, tab},
			{"block-gibbs 1", &BlockGibbs{Block: 1}, tab},
			{"hb", &HammingBall{Block: 2}, tab},
			{"hb 1", &HammingBall{Block: 1}, tab},
			{"lb1", &LB1{}, tab},
			{"lb1 ratio", &LB1{Balance: samplers.Ratio}, conditionerTable{tab}},
			{"lb1 max", &LB1{Balance: samplers.Max}, tab},
			{"lb1 min", &LB1{Balance: samplers.Min}, tab},
		} {
			b, s := kernelErrors(t, tab, c.target, c.s)
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
	tab := newTable(rand.New(rand.NewPCG(12, 7)), domain.Categories(repeats(4, 3), 5), 1, 0.5)
	for _, s := range []samplers.Sampler{&ExactGibbs{}, &BlockGibbs{}, &HammingBall{Block: 2}, &LB1{Balance: samplers.Ratio}} {
		if b, st := kernelErrors(t, tab, tab, s); b > 1e-9 || st > 1e-9 {
			t.Errorf("%s: detailed balance violated by %g, π K = π by %g", s.Info().Name, b, st)
		}
	}
}

// TestDefaultBallDetailedBalance is the Hamming ball sampler with its default
// block, all coordinates of a small target, and radius 2 in a larger block.
func TestDefaultBallDetailedBalance(t *testing.T) {
	t.Parallel()
	done := 0
	eachTable(t, 60, func(t *testing.T, _ *rand.Rand, tab *tableTarget) {
		if tab.dom.Len() == 4 && len(tab.states) > 40 {
			return // the orders of a block of four make these slow
		}
		done++
		for _, s := range []*HammingBall{{}, {Radius: 2}} {
			if b, st := kernelErrors(t, tab, tab, s); b > 1e-9 || st > 1e-9 {
				t.Errorf("hb %+v: detailed balance violated by %g, π K = π by %g", *s, b, st)
			}
		}
	})
	if want := repeats(30, 6); done < want {
		t.Errorf("%d targets, want at least %d", done, want)
	}
}
