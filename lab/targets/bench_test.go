package targets_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"infill/lab/targets"
	"infill/samplers"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func start(
	b testing.TB, name string, params map[string]string, t samplers.Target, chains, burnin int,
) *samplers.Run {
	b.Helper()
	s, err := samplers.New(name, params)
	if err != nil {
		b.Fatal(err)
	}
	x0 := make([][]int32, chains)
	for k := range x0 {
		x0[k] = make([]int32, t.Domain().Len())
	}
	run, err := samplers.Start(
		context.Background(), s, t, x0, samplers.Options{Seed: 1, Burnin: burnin},
	)
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
	b.ReportMetric(
		float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(run.Len())/1000, "µs/chain-step",
	)
}

func ising50() *targets.Ising {
	return must(targets.NewIsing(50, 50, false, 0.15, []float64{0.1}, false))
}

// BenchmarkIsing is a step of every sampler on a 50×50 Ising model, 4 chains.
// sgdld and dula with mini-batches are in BenchmarkStochastic: the model gives
// no stochastic gradients.
func BenchmarkIsing(b *testing.B) {
	for _, name := range samplers.Names() {
		if name == "sgdld" {
			continue
		}
		b.Run(name, func(b *testing.B) { steps(b, start(b, name, nil, ising50(), 4, 200)) })
	}
}

// BenchmarkStochastic is a step of the samplers that use mini-batches: on
// logistic regression with 100 variables, of whose 500 terms they use 10, and
// on a Gaussian–Bernoulli model of 64 bits with one draw.
func BenchmarkStochastic(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	logreg := must(targets.NewLogReg(rng, 500, 100, 0.1))
	for _, c := range []struct {
		label, name string
		params      map[string]string
		target      samplers.Target
	}{
		{"logreg-sgdld", "sgdld", map[string]string{"batch": "10"}, logreg},
		{"logreg-dula", "dula", map[string]string{"batch": "10", "step-size": "0.3"}, logreg},
		{"logreg-dula-full", "dula", map[string]string{"step-size": "0.3"}, logreg},
		{"gaussbern-sgdld", "sgdld", nil, gaussBern64()},
	} {
		b.Run(c.label, func(b *testing.B) { steps(b, start(b, c.name, c.params, c.target, 4, 50)) })
	}
}

// told is a model that hears which chain asks.
type told struct{ *targets.Ising }

// ChainEnergy implements samplers.ChainEnergizer.
func (t told) ChainEnergy(ctx context.Context, _ samplers.Origins, x [][]int32, u []float64,
	grad [][]float64) error {
	if grad == nil {
		return t.Energy(ctx, x, u)
	}
	return t.EnergyGrad(ctx, x, u, grad)
}

// gaussBern64 is a Gaussian–Bernoulli model of 64 weakly coupled bits.
func gaussBern64() *targets.GaussianBernoulli {
	const d = 64
	w := make([]float64, d*d)
	for i := range w {
		w[i] = 0.005
		if i%(d+1) == 0 {
			w[i] = 1
		}
	}
	g := must(targets.NewGaussianBernoulli(w, make([]float64, d)))
	g.Estimator = targets.Conditional // 2^64 states are too many for the other
	return g
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
		{"gibbs", ""}, {"dula", "sqrt"}, {"dmala", "sqrt"}, {"dmala", "ratio"}, {"dlmc", "ratio"}, {"gwg", "sqrt"}, {"acs", ""},
	} {
		params := map[string]string{}
		if c.balance != "" {
			params["balance"] = c.balance
		}
		b.Run(
			fmt.Sprintf("%s-%s", c.name, c.balance),
			func(b *testing.B) { steps(b, start(b, c.name, params, t, 25, 25)) },
		)
	}
}

// able gives a target the abilities that some samplers need: noise stands for a
// mini-batch, and one law for all masked conditionals. It hides others, such as
// cheap neighbour energies, so targets are tested without it too.
type able struct{ samplers.Gradienter }

func (a able) StochasticGrad(
	ctx context.Context, x [][]int32, _ int, rng []*rand.Rand, u []float64, grad [][]float64,
) error {
	err := a.EnergyGrad(ctx, x, u, grad)
	for k := range grad {
		for j := range grad[k] {
			grad[k][j] += 0.1 * rng[k].NormFloat64()
		}
	}
	return err
}

func (a able) ExactConditionals() bool { return false }

func (a able) Conditional(_ context.Context, _ [][]int32, _ []int, logp [][]float64) error {
	for _, l := range logp {
		for v := range l {
			l[v] = -0.1 * float64(v)
		}
	}
	return nil
}

// TestStepsDoNotAllocate covers every sampler, with those of its parameters
// that change what a step does, on binary, nominal and ordinal domains. There is
// one exception: sgdld takes no ordinal coordinates from a target that gives
// ratios, and the only one here, gaussbern, is binary.
func TestStepsDoNotAllocate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	ising := must(targets.NewIsing(4, 4, true, 0.1, []float64{0.2}, false))
	potts := must(targets.NewPotts(3, 3, 3, false, 0.5, []float64{0, 0, 0}))
	modes := must(targets.NewModes(2, 6, 2, nil))
	for name, target := range map[string]samplers.Target{
		"told ising": told{ising},
		"ising":      ising, "potts": potts, "modes": modes,
		"able ising": able{ising}, "able potts": able{potts}, "able modes": able{modes},
		"gaussbern":    must(targets.NewGaussianBernoulli([]float64{1, .5, .5, 1}, []float64{0, 0})),
		"gaussbern 64": gaussBern64(),
		"logreg":       must(targets.NewLogReg(rng, 10, 5, 0.3)),
	} {
		_, able := target.(able)
		_, conditionals := target.(samplers.Conditioner)
		_, estimates := target.(samplers.StochasticGradienter)
		_, ratios := target.(samplers.RatioEstimator)
		for _, s := range samplers.Names() {
			variants := []map[string]string{nil}
			switch s {
			case "gibbs", "gibbs-mh":
				variants = append(variants, map[string]string{"scan": "systematic"})
			case "dula":
				variants = append(variants, map[string]string{"batch": "2"})
			case "gwg":
				variants = append(variants, map[string]string{"draws": "2"})
			case "rows":
				variants = append(variants, map[string]string{"rate": "0.3"})
			case "dlmc":
				variants = append(variants, map[string]string{"euler": "yes"})
			case "sgdld":
				variants = append(variants, map[string]string{"cache": "no", "jump": "1"},
					map[string]string{"time": "0.1"})
			}
			for _, params := range variants {
				switch {
				case (s == "gibbs" || s == "gibbs-mh" || s == "rows") && !able && !conditionals,
					s == "sgdld" && !estimates && !ratios,
					params["batch"] != "" && !estimates:
					continue // it refuses this target
				}
				run := start(t, s, params, target, 3, 20)
				if n := testing.AllocsPerRun(50, func() {
					if err := run.Step(context.Background()); err != nil {
						t.Fatal(err)
					}
				}); n != 0 {
					t.Errorf("%s %v on %s: %g allocations a step", s, params, name, n)
				}
			}
		}
	}
}
