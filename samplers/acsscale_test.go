package samplers

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// scale is what ACS.Scale gives for a step.
type scale struct {
	alpha, beta float64
	untested    bool
}

func (s *scale) of(int) (alpha, beta float64, untested bool) { return s.alpha, s.beta, s.untested }

// scaleTransition is the probability of a step with scale s from a state to all others, worked out
// from equation 5 of ACS and, if it is tested, from Metropolis–Hastings.
func scaleTransition(tab *tableTarget, from int, s scale) []float64 {
	q := product(tilted(s.beta, s.alpha))
	p, x := make([]float64, len(tab.states)), tab.states[from]
	for to, y := range tab.states {
		if math.IsInf(tab.u[to], -1) {
			continue
		}
		p[to] = q(tab.dom, x, y, tab.grad[from])
		if !s.untested {
			back := q(tab.dom, y, x, tab.grad[to])
			p[to] *= math.Min(1, math.Exp(tab.u[to]-tab.u[from])*back/p[to])
		}
	}
	rest := 1.0
	for to, v := range p {
		if to != from {
			rest -= v
		}
	}
	p[from] = rest
	return p
}

// TestScaleOfACS: steps with a scale of one's own have the transition probabilities of the proposal
// that was asked for, tested or not, in the burn-in and after it, whatever the other fields say.
func TestScaleOfACS(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const chains = 5000
	eachTable(t, 4, func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		from := tab.support()[rng.IntN(len(tab.support()))]
		x0 := make([][]int32, chains)
		for k := range x0 {
			x0[k] = tab.states[from]
		}
		for _, given := range []bool{false, true} {
			for _, burnin := range []int{0, 200} {
				s := scale{alpha: math.Exp(rng.NormFloat64()), beta: 0.3 + 0.6*rng.Float64(),
					untested: rng.IntN(2) == 0}
				acs := &ACS{Scale: s.of}
				if given {
					acs.AlphaMax, acs.AlphaMin, acs.FixedBeta = 9, 4, true
				}
				run, err := Start(ctx, acs, tab, x0, Options{Seed: rng.Uint64(), Burnin: burnin})
				if err != nil {
					t.Fatal(err)
				}
				want := scaleTransition(tab, from, s)
				if err := run.Step(ctx); err != nil {
					t.Fatal(err)
				}
				count := make([]float64, len(tab.states))
				for k, x := range run.X {
					count[tab.index(x)]++
					if m := run.Last[k]; s.untested && m.Moved && !m.Accepted {
						t.Fatal("an untested step is rejected")
					}
				}
				checkFrequencies(t, "acs", count, want, chains)
			}
		}
	})
}

// TestScaleOfACSChangesBetweenSteps: chains that begin with draws of π have draws of π after steps
// whose scales change, and each chain has its own.
func TestScaleOfACSChangesBetweenSteps(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const chains = 3000
	rng := rand.New(rand.NewPCG(5, 5))
	tab := newTable(rng, Categories(3, 3), 1, 0.3)
	n := 0
	own := func(k int) (alpha, beta float64, untested bool) {
		return 0.3 + float64((n+k)%7), 0.4 + 0.1*float64(n%5), false
	}
	run, err := Start(ctx, &ACS{Scale: own}, tab, tab.draws(rng, chains), Options{Seed: 2, Burnin: 120})
	if err != nil {
		t.Fatal(err)
	}
	for n = range 130 { // over the end of the burn-in
		if err := run.Step(ctx); err != nil {
			t.Fatal(err)
		}
		a, b, _ := own(3)
		if got := run.kernel.(*mhKernel).p.(rule).scale(3); got != [2]float64{a, b} {
			t.Fatalf("step %d was made with %v, want %v and %v", n, got, a, b)
		}
	}
	count, want := make([]float64, len(tab.states)), make([]float64, len(tab.states))
	for _, x := range run.X {
		count[tab.index(x)]++
	}
	for s := range want {
		want[s] = tab.pi(s)
	}
	checkFrequencies(t, "acs", count, want, chains)
}

func TestScaleOfACSOutOfRange(t *testing.T) {
	t.Parallel()
	tab := newTable(rand.New(rand.NewPCG(6, 1)), Bits(2), 1, 0.5)
	for _, s := range []scale{{}, {alpha: -1, beta: 0.5}, {alpha: math.NaN(), beta: 0.5},
		{alpha: math.Inf(1), beta: 0.5}, {alpha: 1}, {alpha: 1, beta: 1.1}, {alpha: 1, beta: math.NaN()}} {
		run, err := Start(t.Context(), &ACS{Scale: s.of}, tab, [][]int32{{0, 0}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Step(t.Context()); !errors.Is(err, ErrParam) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
