package samplers

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"testing"
)

// strideTransition is the probability of a step with stride s from state x to all others, worked out
// from equation 5 of ACS and, if it is tested, from Metropolis–Hastings.
func strideTransition(tab *tableTarget, from int, s Stride) []float64 {
	q := product(tilted(s.Beta, s.StepSize))
	p, x := make([]float64, len(tab.states)), tab.states[from]
	for to, y := range tab.states {
		if math.IsInf(tab.u[to], -1) {
			continue
		}
		p[to] = q(tab.dom, x, y, tab.grad[from])
		if !s.Untested {
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

// TestSetStride: steps after SetStride have the transition probabilities of the proposal that was
// asked for, tested or not, whatever the sampler would do by itself, in the burn-in and after it.
func TestSetStride(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const chains = 5000
	eachTable(t, 4, func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		from := tab.support()[rng.IntN(len(tab.support()))]
		x0 := make([][]int32, chains)
		for k := range x0 {
			x0[k] = tab.states[from]
		}
		for name, sampler := range map[string]Sampler{"AB": &AB{}, "AB, given": &AB{StepSize: 3, Beta: 0.5},
			"ACS": &ACS{}, "ACS, given": &ACS{AlphaMax: 9, AlphaMin: 4, FixedBeta: true}} {
			for _, burnin := range []int{0, 200} {
				run, err := Start(ctx, sampler, tab, x0, Options{Seed: rng.Uint64(), Burnin: burnin})
				if err != nil {
					t.Fatal(err)
				}
				s := Stride{StepSize: math.Exp(rng.NormFloat64()), Beta: 0.3 + 0.6*rng.Float64(),
					Untested: rng.IntN(2) == 0}
				for range 2 { // the second call replaces the first, and what was drawn for its scale
					if err := run.SetStride(s); err != nil {
						t.Fatal(err)
					}
					s.StepSize, s.Untested = 2*s.StepSize, !s.Untested
				}
				s.StepSize, s.Untested = s.StepSize/2, !s.Untested
				want := strideTransition(tab, from, s)
				if err := run.Step(ctx); err != nil {
					t.Fatal(err)
				}
				count := make([]float64, len(tab.states))
				for k, x := range run.X {
					count[tab.index(x)]++
					if m := run.Last[k]; s.Untested && m.Moved && !m.Accepted {
						t.Fatalf("%s: an untested step is rejected", name)
					}
				}
				checkFrequencies(t, name, count, want, chains)
			}
		}
	})
}

// TestSetStrideChangesBetweenSteps: chains that begin with draws of π have draws of π after steps
// with strides that change, and nothing is adapted any more.
func TestSetStrideChangesBetweenSteps(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const chains = 3000
	rng := rand.New(rand.NewPCG(5, 5))
	tab := newTable(rng, Categories(3, 3), 1, 0.3)
	for _, sampler := range []Sampler{&AB{}, &ACS{}} {
		run, err := Start(ctx, sampler, tab, tab.draws(rng, chains), Options{Seed: 2, Burnin: 120})
		if err != nil {
			t.Fatal(err)
		}
		begins := run.Tuning(0)
		for n := range 130 { // over the end of the burn-in
			s := Stride{StepSize: 0.3 + float64(n%7), Beta: 0.4 + 0.1*float64(n%5)}
			if err := run.SetStride(s); err != nil {
				t.Fatal(err)
			}
			if err := run.Step(ctx); err != nil {
				t.Fatal(err)
			}
			if got := run.kernel.(*mhKernel).p.(rule).scale(3); got != [2]float64{s.StepSize, s.Beta} {
				t.Fatalf("%s: step %d was made with %v, want %v", sampler.Info().Name, n, got, s)
			}
			want := begins // the range that ACS has found
			if sampler.Info().Name == "ab" {
				want = map[string]float64{"step-size": s.StepSize, "beta": s.Beta}
			}
			if got := run.Tuning(0); n < 119 && !maps.Equal(got, want) {
				t.Fatalf("%s: step %d has adapted %v to %v", sampler.Info().Name, n, want, got)
			}
		}
		count, want := make([]float64, len(tab.states)), make([]float64, len(tab.states))
		for _, x := range run.X {
			count[tab.index(x)]++
		}
		for s := range want {
			want[s] = tab.pi(s)
		}
		checkFrequencies(t, sampler.Info().Name, count, want, chains)
	}
}

func TestSetStrideRefuses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	tab := newTable(rand.New(rand.NewPCG(6, 1)), Bits(2), 1, 0.5)
	start := func(s Sampler) *Run {
		run, err := Start(ctx, s, tab, [][]int32{{0, 0}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	for _, s := range []Sampler{&DMALA{}, &GWG{}, &ExactGibbs{}} {
		if err := start(s).SetStride(Stride{StepSize: 1, Beta: 0.5}); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", s.Info().Name, err)
		}
	}
	run := start(&AB{})
	for _, s := range []Stride{{}, {StepSize: -1, Beta: 0.5}, {StepSize: math.NaN(), Beta: 0.5},
		{StepSize: math.Inf(1), Beta: 0.5}, {StepSize: 1}, {StepSize: 1, Beta: 1.1},
		{StepSize: 1, Beta: math.NaN()}} {
		if err := run.SetStride(s); !errors.Is(err, ErrParam) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
