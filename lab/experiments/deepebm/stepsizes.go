package deepebm

import (
	"context"
	"fmt"

	"infill/lab/experiments/lab"
	"infill/samplers"
)

// Steps and balancing exponents of ACS's figure 3, which names none. .5 and .95 are those between
// which its exponents are tuned, and up to 60 is where its search for a step begins.
var (
	figureAlphas = []float64{0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 2, 3, 5, 10, 20, 60}
	figureBetas  = []float64{0.5, 0.65, 0.8, 0.95}
)

// acceptance is the mean acceptance probability of ACS's proposal with one step size and one
// exponent, of chains that are at equilibrium and go on.
func acceptance(
	ctx context.Context, m samplers.Target, x [][]int32, alpha, beta float64, steps int, seed uint64,
) (lab.Spread, error) {
	s := &samplers.ACS{AlphaMax: alpha, AlphaMin: alpha, BetaMax: beta, BetaMin: beta, FixedBeta: true}
	run, err := samplers.Start(ctx, s, m, x, samplers.Options{Seed: seed, ID: "step sizes"})
	if err != nil {
		return lab.Spread{}, err
	}
	if err := run.Steps(ctx, steps, nil); err != nil {
		return lab.Spread{}, err
	}
	var p []float64
	for _, st := range run.Stats {
		p = append(p, st.MeanProb())
	}
	return lab.Over(p), nil
}

// stepSizes is ACS's figure 3 of a learned model, as a table. Chains that learned it settle first.
func (p plan) stepSizes(
	ctx context.Context, m *net, buffer [][]int32, seed uint64,
) (string, error) {
	run, err := samplers.Start(ctx, &samplers.DMALA{}, m, buffer,
		samplers.Options{Seed: seed, ID: "settling", Burnin: p.settle / 2})
	if err != nil {
		return "", err
	}
	if err := run.Steps(ctx, p.settle, nil); err != nil {
		return "", err
	}
	head := []string{"step size α"}
	for _, b := range figureBetas {
		head = append(head, fmt.Sprintf("β = %g", b))
	}
	rows := [][]string{head}
	for _, a := range figureAlphas {
		row := []string{fmt.Sprint(a)}
		for _, b := range figureBetas {
			mean, err := acceptance(ctx, m, run.X, a, b, p.settle/10, seed)
			if err != nil {
				return "", err
			}
			row = append(row, mean.Format(3))
		}
		rows = append(rows, row)
	}
	return lab.Table(rows...), nil
}
