package targets_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"infill/lab/targets"
	"infill/samplers"
)

// tunedStep is the geometric mean over 8 chains of the step size that a sampler
// tunes in 600 steps.
func tunedStep(t *testing.T, s samplers.Sampler, target samplers.Target) float64 {
	t.Helper()
	run, err := samplers.Start(
		context.Background(), s, target, randomStarts(target.Domain(), 8),
		samplers.Options{Seed: 6, Burnin: 600},
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Sample(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for k := range run.X {
		sum += math.Log(run.Tuning(k)["step-size"]) / 8
	}
	return math.Exp(sum)
}

// TestDULAStep: DULA's automatic step size is about that part of DMALA's which DLP
// uses (.2 of .4 on the Ising model, .1 of .2 and .1 of .15 elsewhere).
func TestDULAStep(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]samplers.Target{
		"Ising": must(targets.NewIsing(20, 20, true, 0.1, []float64{0.2}, false)),
		"Potts": must(targets.NewPotts(8, 8, 4, false, 0.8, []float64{0, 0.3, -0.2, 0.5})),
		"modes": must(targets.NewModes(3, 12, 2, nil)),
	} {
		dula, dmala := tunedStep(t, &samplers.DULA{}, target), tunedStep(t, &samplers.DMALA{}, target)
		t.Logf("%s: %.3f of %.3f is %.2f", name, dula, dmala, dula/dmala)
		if r := dula / dmala; !(r > 0.2 && r < 0.75) {
			t.Errorf("%s: DULA tunes %.3f, DMALA %.3f: a part of %.2f", name, dula, dmala, r)
		}
	}
}

// TestDULADefaultIsNearerToTheTarget: of 400 independent coordinates the law that
// DULA draws from is known in closed form (figures_test.go, dulaLaw). With the step
// size that it tunes the marginals are less than half as far from π as with DMALA's.
func TestDULADefaultIsNearerToTheTarget(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 1))
	theta := make([]float64, 400)
	for i := range theta {
		theta[i] = rng.NormFloat64()
	}
	m := must(targets.NewBernoulli(theta, false))
	bias := func(s samplers.Sampler) (mean float64) {
		a := tunedStep(t, s, m)
		for _, b := range theta {
			up := math.Exp(b) * (1 + math.Exp(-b/2-1/(2*a)))
			down := 1 + math.Exp(b/2-1/(2*a))
			mean += math.Abs(up/(up+down)-1/(1+math.Exp(-b))) / 400
		}
		return mean
	}
	now, before := bias(&samplers.DULA{}), bias(&samplers.DMALA{})
	t.Logf("mean error of a marginal %.4f, at DMALA's step size %.4f", now, before)
	if now > 0.03 || now > before/2 {
		t.Errorf("mean error of a marginal %.4f, at DMALA's step size %.4f", now, before)
	}
}
