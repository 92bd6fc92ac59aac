package deepebm

import (
	"context"
	"fmt"
	"math"
	"strings"

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

// stepSizes are ACS's figure 3 of a learned model: the acceptance by step size, for each exponent.
// Chains that learned the model settle first.
func (p plan) stepSizes(
	ctx context.Context, m *net, buffer [][]int32, seed uint64,
) (rates [][]lab.Spread, err error) {
	run, err := samplers.Start(ctx, &samplers.DMALA{}, m, buffer,
		samplers.Options{Seed: seed, ID: "settling", Burnin: p.settle / 2})
	if err != nil {
		return nil, err
	}
	if err := run.Steps(ctx, p.settle, nil); err != nil {
		return nil, err
	}
	for _, b := range figureBetas {
		var of []lab.Spread
		for _, a := range figureAlphas {
			mean, err := acceptance(ctx, m, run.X, a, b, p.settle/10, seed)
			if err != nil {
				return nil, err
			}
			of = append(of, mean)
		}
		rates = append(rates, of)
	}
	return rates, nil
}

// A figure has the rates of a model that learned for some iterations.
type figure struct {
	iters int
	rates [][]lab.Spread
}

// tableOf has a row for each model and step size.
func tableOf(figures []figure) string {
	head := []string{"iterations", "step size α"}
	for _, b := range figureBetas {
		head = append(head, fmt.Sprintf("β = %g", b))
	}
	rows := [][]string{head}
	for _, f := range figures {
		for i, a := range figureAlphas {
			row := []string{fmt.Sprint(f.iters), fmt.Sprint(a)}
			for _, of := range f.rates {
				row = append(row, of[i].Format(3))
			}
			rows = append(rows, row)
		}
	}
	return lab.Table(rows...)
}

// rise is the largest rise of rates from one place to a later one, of those above two standard
// errors; ok is whether there is one.
func rise(rates []lab.Spread) (from, to int, ok bool) {
	largest := 0.0
	for i := range rates {
		for j := i + 1; j < len(rates); j++ {
			by := rates[j].Mean - rates[i].Mean
			if by > largest && by > 2*math.Hypot(rates[i].SE, rates[j].SE) {
				from, to, ok, largest = i, j, true, by
			}
		}
	}
	return from, to, ok
}

// verdict says of each model and exponent whether the rate rises again, by more than two standard
// errors, as in the paper's figure.
func verdict(figures []figure) string {
	var b strings.Builder
	for _, f := range figures {
		var rises, falls []string
		for k, of := range f.rates {
			beta := fmt.Sprintf("β = %g", figureBetas[k])
			i, j, ok := rise(of)
			if !ok {
				falls = append(falls, beta)
				continue
			}
			rises = append(rises, fmt.Sprintf("%s from %s at α = %g to %s at %g", beta,
				lab.Num(of[i].Mean, 3), figureAlphas[i], lab.Num(of[j].Mean, 3), figureAlphas[j]))
		}
		fmt.Fprintf(&b, "On the model of %d iterations the rate ", f.iters)
		switch {
		case rises == nil:
			b.WriteString("only falls, which is not the paper's shape.")
		case falls == nil:
			fmt.Fprintf(&b, "rises again, as in the paper: with %s.", strings.Join(rises, ", "))
		default:
			fmt.Fprintf(&b, "rises again, as in the paper, with %s. It only falls with %s.",
				strings.Join(rises, ", "), strings.Join(falls, ", "))
		}
		b.WriteString("\n")
	}
	return strings.TrimSpace(b.String())
}
