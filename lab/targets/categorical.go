package targets

import (
	"context"
	"fmt"

	"infill/lab/internal/stable"
	"infill/samplers"
)

// Categorical is the factorised distribution
//
//	U(x) = Σ_i θ_i[x_i]
//
// on nominal coordinates (for {0,1} and {−1,1} see Bernoulli). Its gradient is exact:
// Δ_i(v) = θ_i[v] − θ_i[x_i].
type Categorical struct {
	dom   *samplers.Domain
	theta []float64
	off   []int
}

// NewCategorical makes the target with log-weights theta[i][v].
func NewCategorical(theta [][]float64) (*Categorical, error) {
	t := &Categorical{}
	coords := make([]samplers.Coord, len(theta))
	for i, row := range theta {
		coords[i] = samplers.Coord{Kind: samplers.Nominal, K: len(row)}
		t.off = append(t.off, len(t.theta))
		t.theta = append(t.theta, row...)
	}
	d, err := samplers.NewDomain(coords...)
	if err != nil {
		return nil, fmt.Errorf("categorical target: %w", err)
	}
	t.dom = d
	return t, nil
}

// Domain implements samplers.Target.
func (t *Categorical) Domain() *samplers.Domain { return t.dom }

// Energy implements samplers.Target.
func (t *Categorical) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k, s := range x {
		sum := 0.0
		for i, v := range s {
			sum += t.theta[t.off[i]+int(v)]
		}
		u[k] = sum
	}
	return nil
}

// EnergyGrad implements samplers.Gradienter.
func (t *Categorical) EnergyGrad(ctx context.Context, x [][]int32, u []float64,
	g [][]float64) error {
	for k := range x {
		copy(g[k], t.theta)
	}
	return t.Energy(ctx, x, u)
}

// Conditional implements samplers.Conditioner.
func (t *Categorical) Conditional(_ context.Context, x [][]int32, i []int, lp [][]float64) error {
	for k := range x {
		copy(lp[k], t.theta[t.off[i[k]]:])
	}
	return nil
}

// ExactConditionals implements samplers.Conditioner.
func (t *Categorical) ExactConditionals() bool { return true }

// LogZ is the exact normaliser Σ_i log Σ_v exp θ_i[v].
func (t *Categorical) LogZ() float64 {
	z := 0.0
	for i := range t.off {
		z += stable.LogSumExp(t.row(i))
	}
	return z
}

// Row returns the log-weights of coordinate i.
func (t *Categorical) row(i int) []float64 {
	return t.theta[t.off[i] : t.off[i]+t.dom.K(i)]
}
