package samplers_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"infill/samplers"
	"infill/samplers/targets"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func start(b testing.TB, name string, params map[string]string, t samplers.Target, chains, burnin int) *samplers.Run {
	b.Helper()
	s, err := samplers.New(name, params)
	if err != nil {
		b.Fatal(err)
	}
	x0 := make([][]int32, chains)
	for k := range x0 {
		x0[k] = make([]int32, t.Domain().Len())
	}
	run, err := samplers.Start(context.Background(), s, t, x0, samplers.Options{Seed: 1, Burnin: burnin})
	if err != nil {
		b.Fatal(err)
	}
	if err := run.Steps(context.Background(), burnin+20, nil); err != nil {
		b.Fatal(err)
	}
	return run
}

func steps(b *testing.B, run *samplers.Run) {
	b.Helper()
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if err := run.Step(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(run.Len())/1000, "µs/chain-step")
}

func ising50() *targets.Ising {
	return must(targets.NewIsing(50, 50, false, 0.15, []float64{0.1}, false))
}

// BenchmarkIsing is a step of every sampler on a 50×50 Ising model, 4 chains.
func BenchmarkIsing(b *testing.B) {
	for _, name := range samplers.Names() {
		if name == "sgdld" {
			continue // needs stochastic gradients
		}
		b.Run(name, func(b *testing.B) { steps(b, start(b, name, nil, ising50(), 4, 200)) })
	}
}

// BenchmarkVocabulary is the size of text: 4 blanks of 30000 categories, 25
// chains, with a target that costs a copy of its gradient.
func BenchmarkVocabulary(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	theta := make([][]float64, 4)
	for i := range theta {
		theta[i] = make([]float64, 30000)
		for v := range theta[i] {
			theta[i][v] = -math.Log(float64(v+1)) + rng.NormFloat64()
		}
	}
	t := must(targets.NewCategorical(theta))
	for _, c := range []struct{ name, balance string }{
		{"gibbs", ""}, {"dula", "sqrt"}, {"dmala", "sqrt"}, {"dmala", "ratio"}, {"dlmc", "ratio"}, {"dlmcf", "ratio"}, {"gwg", "sqrt"}, {"pas", "sqrt"}, {"acs", ""}, {"rwm", ""},
	} {
		params := map[string]string{}
		if c.balance != "" {
			params["balance"] = c.balance
		}
		b.Run(fmt.Sprintf("%s-%s", c.name, c.balance), func(b *testing.B) { steps(b, start(b, c.name, params, t, 25, 25)) })
	}
}

// TestStepsDoNotAllocate covers every sampler on binary, nominal and ordinal
// domains.
func TestStepsDoNotAllocate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	rbm := must(targets.NewRBM(6, 3, 2, false))
	rbm.Randomise(rng, 1, 1)
	gb := must(targets.NewGaussianBernoulli([]float64{1, .5, .5, 1}, []float64{0, 0}))
	logreg := must(targets.NewLogReg(rng, 10, 5, 0.3))
	for name, target := range map[string]samplers.Target{
		"ising":     must(targets.NewIsing(4, 4, true, 0.1, []float64{0.2}, false)),
		"potts":     must(targets.NewPotts(3, 3, 3, false, 0.5, []float64{0, 0, 0})),
		"rbm":       rbm,
		"modes":     must(targets.NewModes(2, 6, 2, nil)),
		"gaussbern": gb,
		"logreg":    logreg,
	} {
		for _, s := range samplers.Names() {
			if _, ok := target.(samplers.Conditioner); !ok && (s == "gibbs" || s == "gibbs-mh") {
				continue
			}
			if s == "sgdld" && name != "gaussbern" && name != "logreg" {
				continue
			}
			run := start(t, s, nil, target, 3, 20)
			if n := testing.AllocsPerRun(50, func() {
				if err := run.Step(context.Background()); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("%s on %s: %g allocations a step", s, name, n)
			}
		}
	}
}
