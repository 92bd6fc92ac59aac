package samplers

import (
	"math"

	"infill/internal/nearest"
)

// Balance is a locally balanced weight function g with g(t) = t·g(1/t) (Zanella 2020, definition
// 2), applied to the estimated probability ratio t = exp(Δ). Among thousands of categories Ratio
// explores more than Sqrt (DISCS).
type Balance uint8

const (
	Sqrt  Balance = iota // √t, the default
	Ratio                // t/(1+t), Barker's
	Max                  // max(1, t)
	Min                  // min(1, t)
)

// balanceNames has the names of the values of Balance, in their order.
var balanceNames = []string{"sqrt", "ratio", "max", "min"}

// String returns the name: sqrt, ratio, max or min.
func (b Balance) String() string { return nearest.Of(balanceNames, "balance", b) }

// Log is log g(exp(delta)), computed without leaving log space.
func (b Balance) Log(delta float64) float64 {
	switch b {
	case Ratio:
		return logSigmoid(delta)
	case Max:
		if math.IsInf(delta, -1) {
			return delta // an impossible move stays impossible
		}
		return math.Max(delta, 0)
	case Min:
		return math.Min(delta, 0)
	default:
		return delta / 2
	}
}

// logAll replaces every Δ by log g(exp(Δ)).
func (b Balance) logAll(d []float64) {
	if b == Sqrt {
		for i := range d {
			d[i] *= 0.5
		}
		return
	}
	for i, x := range d {
		d[i] = b.Log(x)
	}
}

func (b Balance) check(sampler string) error {
	if int(b) >= len(balanceNames) {
		return &ParamError{sampler, "balance", b.String(), joinNames(balanceNames)}
	}
	return nil
}
