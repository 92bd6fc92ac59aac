package kernels

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"infill/samplers"
)

// stationarityTV starts many chains at independent exact draws of π, makes some
// steps and returns the total variation between the final states and π, and
// the threshold that a sampler leaving π invariant exceeds with probability at
// most 1e-6: the final states are then n independent draws of π, for which
// E[TV] ≤ ½ Σ √(π(1−π)/n) (Jensen) and, a draw changing TV by at most 1/n,
// P(TV > E[TV] + ε) ≤ exp(−2nε²) (McDiarmid).
func stationarityTV(
	t *testing.T, rng *rand.Rand, tab *tableTarget, target samplers.Target, s samplers.Sampler, n, steps int,
) (tv, limit float64) {
	t.Helper()
	x0 := make([][]int32, n)
	cum := make([]float64, len(tab.u))
	for k := range x0 {
		a, _ := drawLog(rng, tab.u, cum)
		x0[k] = tab.states[a]
	}
	run, err := samplers.Start(context.Background(), s, target, x0, samplers.Options{Seed: rng.Uint64()})
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
			s      samplers.Sampler
			target samplers.Target
		}{
			{"exact-gibbs", &ExactGibbs{}, tab},
			{"exact-gibbs systematic", &ExactGibbs{Systematic: true}, conditionerTable{tab}},
			{"exact-gibbs of conditionals", &ExactGibbs{}, conditionerTable{tab}},
			{"block-gibbs", &BlockGibbs{}, tab},
			{"hb", &HammingBall{}, tab},
			{"hb 2", &HammingBall{Radius: 2, Block: 2}, tab},
			{"lb1", &LB1{}, tab},
			{"lb1 max", &LB1{Balance: samplers.Max}, conditionerTable{tab}},
			{"lb1 ratio", &LB1{Balance: samplers.Ratio}, tab},
		} {
			tv, limit := stationarityTV(t, rng, tab, c.target, c.s, 2000, 5)
			if tv > limit {
				t.Errorf("%s: total variation %.4f after 5 steps from π, limit %.4f", c.name, tv, limit)
			}
		}
	})
}

// TestStationarityHasPower runs samplers that are known not to leave π
// invariant through the same comparison: LB-1 without its correction.
func TestStationarityHasPower(t *testing.T) {
	t.Parallel()
	caught := 0
	eachTable(t, 32, func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		s := uncorrected{&LB1{Balance: samplers.Ratio}}
		if tv, limit := stationarityTV(t, rng, tab, tab, s, 2000, 20); tv > limit {
			caught++
		}
	})
	if n := repeats(32, 12); caught < n/2 {
		t.Errorf("a wrong lb1 was caught on only %d of %d targets", caught, n)
	}
}

// uncorrected always accepts, by making the normaliser of every state look
// enormous.
type uncorrected struct{ *LB1 }

func (u uncorrected) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	k, err := u.LB1.Attach(c)
	if err != nil {
		return nil, err
	}
	return &alwaysAccept{k.(*lb1Kernel)}, nil
}

type alwaysAccept struct{ *lb1Kernel }

func (a *alwaysAccept) Step(ctx context.Context) error {
	for k := range a.curZ {
		a.curZ[k] = 1e6
	}
	return a.lb1Kernel.Step(ctx)
}

func TestBallIsComplete(t *testing.T) {
	t.Parallel()
	for j := range 20 {
		rng := rand.New(rand.NewPCG(uint64(j), 2))
		tab := newTable(rng, smallDomain(rng, j), 1, 0)
		var free []int32
		for i := range tab.dom.Len() {
			if tab.dom.Support(i) > 1 {
				free = append(free, int32(i))
			}
		}
		for r := 0; r <= len(free); r++ {
			size := int(ballSize(tab.dom, free, r))
			b := newBall(tab.dom, size)
			x := tab.states[tab.support()[0]]
			seen := map[string]bool{}
			for _, y := range b.enumerate(x, free, r) {
				if hamming(x, y) > r || tab.dom.Check(y) != nil {
					t.Fatalf("ball of radius %d around %v holds %v", r, x, y)
				}
				seen[fmt.Sprint(y)] = true
			}
			if len(seen) != size || b.n != size {
				t.Fatalf("ball of radius %d has %d states, %d listed, want %d", r, len(seen), b.n, size)
			}
		}
	}
}

// TestNeighboursInChunks: energies come out the same however many states go to
// the target at a time.
func TestNeighboursInChunks(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 1))
	d, err := samplers.NewDomain(
		samplers.Coord{Kind: samplers.Nominal, K: 5, Allowed: []bool{true, false, true, true, true}},
		samplers.Coord{Kind: samplers.Nominal, K: 4},
	)
	if err != nil {
		t.Fatal(err)
	}
	tab := newTable(rng, d, 1, 0)
	c := &samplers.Chains{Target: tab, Domain: d, Stats: make([]samplers.Stats, 2)}
	for _, chunk := range []int{1, 3, 4, 100} {
		n := newNeighbourhood(c)
		n.x = n.x[:chunk]
		x := [][]int32{{0, 1}, {3, 3}, {3, 3}}
		qs := []asked{{0, 0, make([]float64, 5)}, {1, 0, make([]float64, 5)}, {1, 1, make([]float64, 4)}}
		if err := n.fill(context.Background(), x, qs); err != nil {
			t.Fatal(err)
		}
		for j, q := range qs {
			for v, u := range q.u {
				if want := tab.at(x[j], q.i, v); u != want {
					t.Errorf("chunks of %d: U of question %d at value %d is %g, want %g", chunk, j, v, u, want)
				}
			}
		}
	}
}

// forgetful leaves a term out of the energies that it gives a sampler.
type forgetful struct{ *tableTarget }

func (f forgetful) Energy(ctx context.Context, x [][]int32, u []float64) error {
	err := f.tableTarget.Energy(ctx, x, u)
	for k := range x {
		u[k] -= 0.4 * float64(x[k][len(x[k])-1])
	}
	return err
}

// halfLB1 is LB-1 without the reverse term Z_g(θ') of its ratio.
type halfLB1 struct{ LB1 }

func (s *halfLB1) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	k, err := s.LB1.Attach(c)
	if err != nil {
		return nil, err
	}
	return &halfBalanced{k.(*lb1Kernel)}, nil
}

type halfBalanced struct{ *lb1Kernel }

func (l *halfBalanced) Step(ctx context.Context) error {
	l.draw()
	if err := l.score(ctx, l.y, l.next); err != nil {
		return err
	}
	for k := range l.c.X {
		l.decide(k, 0)
	}
	return nil
}

// fixedCentre is a Hamming ball sampler that forgets to draw the centre.
type fixedCentre struct{ HammingBall }

func (f *fixedCentre) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	k, err := f.HammingBall.Attach(c)
	if err == nil {
		k.(*ballKernel).recentre = false
	}
	return k, err
}

// notDrawn is block Gibbs whose weights depend on the state at hand: its own
// energy is raised within the block, so that the draw favours staying.
type notDrawn struct{ BlockGibbs }

func (s *notDrawn) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	k, err := s.BlockGibbs.Attach(c)
	if err == nil {
		c.Target = sticky{c.Target, c}
	}
	return k, err
}

// sticky gives the state at hand more weight in its block than its
// normaliser has room for.
type sticky struct {
	samplers.Target
	c *samplers.Chains
}

func (s sticky) Energy(ctx context.Context, x [][]int32, u []float64) error {
	err := s.Target.Energy(ctx, x, u)
	for k := range x {
		if len(x) > 1 && hamming(x[k], s.c.X[0]) == 0 {
			u[k] += math.Abs(u[k])
		}
	}
	return err
}

// TestBrokenEnergySamplersFail: on every target the enumeration finds what is
// wrong with copies of the samplers that have one deliberate error.
func TestBrokenEnergySamplersFail(t *testing.T) {
	t.Parallel()
	eachTable(t, 32, func(t *testing.T, _ *rand.Rand, tab *tableTarget) {
		last := tab.dom.Support(tab.dom.Len()-1) > 1
		for _, c := range []struct {
			name   string
			s      samplers.Sampler
			target samplers.Target
		}{
			{"exact-gibbs without a term", &ExactGibbs{}, forgetful{tab}},
			{"block-gibbs without a term", &BlockGibbs{}, forgetful{tab}},
			{"block-gibbs, weights that depend on the state", &notDrawn{}, tab},
			{"hb around the state itself", &fixedCentre{HammingBall{Block: 2}}, tab},
			{"lb1 without its reverse term", &halfLB1{LB1{Balance: samplers.Ratio}}, tab},
			{"lb1 without acceptance", uncorrected{&LB1{Balance: samplers.Ratio}}, tab},
		} {
			if _, ok := c.target.(forgetful); ok && !last {
				continue // the term is constant
			}
			if b, s := kernelErrors(t, tab, c.target, c.s); b < 1e-6 && s < 1e-6 {
				t.Errorf("%s violates balance by %g only: the test has no power", c.name, b)
			}
		}
	})
}

// TestNeighboursOfEnergyZeroAreCounted: samplers that evaluate neighbours count
// those of U = −∞ inside the support, each evaluation once, and not the
// categories outside it.
func TestNeighboursOfEnergyZeroAreCounted(t *testing.T) {
	t.Parallel()
	d, err := samplers.NewDomain(
		samplers.Coord{Kind: samplers.Nominal, K: 4, Allowed: []bool{true, true, true, false}}, samplers.Coord{Kind: samplers.Nominal, K: 2},
	)
	if err != nil {
		t.Fatal(err)
	}
	tab := newTable(rand.New(rand.NewPCG(8, 9)), d, 0.3, 0)
	tab.u[2] = negInf // (2, 0)
	tab.u[6] = negInf // (2, 1): coordinate 0 never has value 2
	for _, c := range []struct {
		s      samplers.Sampler
		target samplers.Target
		most   int     // of them in a step
		mean   float64 // a step
	}{
		// Every other step of Gibbs visits coordinate 0. LB-1 asks coordinate 0
		// for its values and coordinate 1 for those of a state without a 2. A
		// block is the whole space. A quarter of the balls are around (2, ·),
		// and hold both, the others one.
		{&ExactGibbs{}, tab, 1, 0.5},
		{&LB1{}, tab, 1, 1},
		{&LB1{}, conditionerTable{tab}, 1, 1},
		{&BlockGibbs{}, tab, 2, 2},
		{&HammingBall{}, tab, 2, 1.25},
	} {
		run, err := samplers.Start(context.Background(), c.s, c.target, [][]int32{{0, 0}}, samplers.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		run.ResetStats()
		const n = 1000
		before := 0
		if err := run.Steps(context.Background(), n, func(r *samplers.Run) error {
			now := r.Stats[0].Zero
			if now-before > c.most {
				t.Errorf("%s counts %d in one step, at most %d can be", c.s.Info().Name, now-before, c.most)
			}
			before = now
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		st := run.Stats[0]
		if mean := float64(st.Zero) / n; math.Abs(mean/c.mean-1) > 0.12 || st.NonFinite != 0 {
			t.Errorf("%s: %g counted a step, want %g; %d no numbers", c.s.Info().Name, mean, c.mean, st.NonFinite)
		}
	}
}
