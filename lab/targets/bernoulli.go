package targets

import (
	"context"
	"fmt"

	"infill/lab/internal/check"
	"infill/lab/internal/domain"
	"infill/lab/internal/stable"
	"infill/samplers"
)

// Bernoulli is the factorised distribution on binary coordinates
//
//	U(x) = Σ_i θ_i·x_i,   x ∈ {0,1}^n
//
// with log-odds θ_i: P(x_i = 1) = 1/(1 + exp(−θ_i)). On {−1,1} x_i stands for
// (s_i + 1)/2, so that the probabilities are the same. It is exact and linear:
// Δ_i is θ_i(1 − 2x_i). For nominal coordinates see Categorical.
type Bernoulli struct {
	Theta []float64 // log-odds

	dom  *samplers.Domain
	step float64 // distance of the two values: 1 on {0,1}, 2 on {−1,1}
}

// NewBernoulli makes the target with log-odds theta: one or more finite numbers.
// spins chooses the domain {−1,1} instead of {0,1}.
func NewBernoulli(theta []float64, spins bool) (*Bernoulli, error) {
	args := []check.Argument{check.Whole("the number of log-odds", len(theta), 1,
		check.MaxSites)}
	for i, v := range theta {
		args = append(args, check.Number(fmt.Sprintf("log-odds %d", i), v))
	}
	if err := check.Shape("Bernoulli target", args...); err != nil {
		return nil, err
	}
	t := &Bernoulli{Theta: append([]float64(nil), theta...), dom: domain.Bits(len(theta)), step: 1}
	if spins {
		t.dom, t.step = domain.Spins(len(theta)), 2
	}
	return t, nil
}

// Domain implements samplers.Target.
func (t *Bernoulli) Domain() *samplers.Domain { return t.dom }

// Energy implements samplers.Target.
func (t *Bernoulli) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k, s := range x {
		sum := 0.0
		for i, v := range s {
			sum += t.Theta[i] * float64(v)
		}
		u[k] = sum
	}
	return nil
}

// EnergyGrad implements samplers.Gradienter.
func (t *Bernoulli) EnergyGrad(ctx context.Context, x [][]int32, u []float64, g [][]float64) error {
	for k := range x {
		for i, v := range t.Theta {
			g[k][i] = v / t.step
		}
	}
	return t.Energy(ctx, x, u)
}

// Conditional implements samplers.Conditioner.
func (t *Bernoulli) Conditional(_ context.Context, x [][]int32, i []int, lp [][]float64) error {
	for k := range x {
		lp[k][0], lp[k][1] = 0, t.Theta[i[k]]
	}
	return nil
}

// ExactConditionals implements samplers.Conditioner.
func (t *Bernoulli) ExactConditionals() bool { return true }

// Mean is P(x_i = 1).
func (t *Bernoulli) Mean(i int) float64 { return stable.Sigmoid(t.Theta[i]) }

// LogZ is the exact normaliser Σ_i log(1 + exp θ_i).
func (t *Bernoulli) LogZ() float64 {
	z := 0.0
	for _, v := range t.Theta {
		z += stable.Softplus(v)
	}
	return z
}
