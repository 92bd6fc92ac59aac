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
			if got := run.Kernel.(*mhKernel).p.(rule).scale(3); got != [2]float64{s.StepSize, s.Beta} {
				t.Fatalf("%s: step %d was made with %v, want %v", sampler.Name(), n, got, s)
			}
			want := begins // the range that ACS has found
			if sampler.Name() == "ab" {
				want = map[string]float64{"step-size": s.StepSize, "beta": s.Beta}
			}
			if got := run.Tuning(0); n < 119 && !maps.Equal(got, want) {
				t.Fatalf("%s: step %d has adapted %v to %v", sampler.Name(), n, want, got)
			}
		}
		count, want := make([]float64, len(tab.states)), make([]float64, len(tab.states))
		for _, x := range run.X {
			count[tab.index(x)]++
		}
		for s := range want {
			want[s] = tab.pi(s)
		}
		checkFrequencies(t, sampler.Name(), count, want, chains)
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
			t.Errorf("%s: %v", s.Name(), err)
		}
		if _, err := start(s).SearchStep(ctx, StepSearch{From: 1, Beta: 0.5,
			Budget: 5}); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: search: %v", s.Name(), err)
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
	for _, s := range []StepSearch{{Beta: 0.5, Budget: 5}, {From: 1, Budget: 5}, {From: 1, Beta: 0.5,
		Budget: 4}, {From: 1, Beta: 0.5, Budget: 5, TargetAcceptance: 1}} {
		if _, err := run.SearchStep(ctx, s); !errors.Is(err, ErrParam) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// meanAcceptance is the mean acceptance probability of tested steps between states of π, as a
// proposal that is the state counts: 1.
func meanAcceptance(tab *tableTarget, alpha, beta float64) float64 {
	sum := 0.0
	for from, x := range tab.states {
		q := product(tilted(beta, alpha))
		for to, y := range tab.states {
			p := q(tab.dom, x, y, tab.grad[from])
			back := q(tab.dom, y, x, tab.grad[to])
			sum += tab.pi(from) * math.Min(p, math.Exp(tab.u[to]-tab.u[from])*back)
		}
	}
	return sum
}

// TestSearchStep holds step sizes against algorithm 4 with acceptance probabilities that are summed
// over all pairs of states. As chains begin with draws of π, they stay such.
func TestSearchStep(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const chains = 12000
	rng := rand.New(rand.NewPCG(8, 5))
	tab := newTable(rng, Bits(4), 3, 2)
	for _, s := range []StepSearch{{From: 0.05, Beta: 0.5, Budget: 40, TargetAcceptance: 0.8},
		{From: 0.1, Beta: 0.8, Budget: 28, TargetAcceptance: 0.7},
		{From: 1, Beta: 0.5, Down: true, Budget: 40, TargetAcceptance: 0.95},
		{From: 0.6, Beta: 0.7, Down: true, Budget: 20, TargetAcceptance: 0.9},
		{From: 0.2, Beta: 0.5, Budget: 10}} {
		goal := s.TargetAcceptance
		if goal == 0 {
			goal = 0.5
		}
		want, rho, begins := s.From, 0.0, meanAcceptance(tab, s.From, s.Beta)
		for range s.Budget / 5 {
			far := want * (1 + math.Abs(goal-rho)/2)
			if s.Down {
				far = want * (1 - math.Abs(goal-rho)/2)
			}
			best, off := 0.0, math.Inf(1)
			for n := range 5 {
				a := want + (far-want)*float64(n)/4
				if m := meanAcceptance(tab, a, s.Beta); math.Abs(m-goal) < off {
					best, off, rho = a, math.Abs(m-goal), m
				}
			}
			want = best
		}
		run, err := Start(ctx, &AB{StepSize: 1, Beta: 0.5}, tab, tab.draws(rng, chains), Options{Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		got, err := run.SearchStep(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v: %.4f, exactly %.4f, acceptance from %.3f to %.3f", s, got, want, begins,
			meanAcceptance(tab, want, s.Beta))
		if math.Abs(got/want-1) > 0.08 {
			t.Errorf("%+v: step size %.4f, want %.4f", s, got, want)
		}
		if made := run.Stats[0].Steps; made != s.Budget/5*5 {
			t.Errorf("%+v: %d steps", s, made)
		}
	}
}
