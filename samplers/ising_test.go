package samplers_test

import (
	"context"
	"math"
	"math/rand/v2"

	"infill/samplers"
)

// ising is the Ising model on a square grid of n×n spins,
//
//	U = Σ_{neighbours i, j} s_i s_j·coupling + Σ_i field_i s_i,   s ∈ {−1,+1}^(n·n)
//
// with its exact conditionals.
type ising struct {
	n        int
	coupling float64
	field    []float64
	dom      *samplers.Domain
}

func newIsing(n int, coupling float64, field ...float64) *ising {
	return &ising{n, coupling, field, samplers.Spins(n * n)}
}

func (m *ising) Domain() *samplers.Domain { return m.dom }

// pull is dU/ds_i without the field.
func (m *ising) pull(x []int32, i int) float64 {
	sum := 0.0
	add := func(j int) { sum += m.coupling * float64(2*x[j]-1) }
	if i >= m.n {
		add(i - m.n)
	}
	if i%m.n > 0 {
		add(i - 1)
	}
	if i%m.n < m.n-1 {
		add(i + 1)
	}
	if i+m.n < len(x) {
		add(i + m.n)
	}
	return sum
}

func (m *ising) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k, s := range x {
		u[k] = 0
		for i, v := range s {
			u[k] += float64(2*v-1) * (m.pull(s, i)/2 + m.field[i])
		}
	}
	return nil
}

func (m *ising) EnergyGrad(ctx context.Context, x [][]int32, u []float64, grad [][]float64) error {
	for k, s := range x {
		for i := range s {
			grad[k][i] = m.pull(s, i) + m.field[i]
		}
	}
	return m.Energy(ctx, x, u)
}

func (m *ising) Conditional(_ context.Context, x [][]int32, i []int, logp [][]float64) error {
	for k, s := range x {
		up := m.pull(s, i[k]) + m.field[i[k]]
		logp[k][0], logp[k][1] = -up, up
	}
	return nil
}

func (m *ising) ExactConditionals() bool { return true }

// up has the probability of every spin to be +1, by all states.
func (m *ising) up(ctx context.Context) ([]float64, error) {
	p, z := make([]float64, m.dom.Len()), 0.0
	x, u := [][]int32{make([]int32, m.dom.Len())}, make([]float64, 1)
	for state := range 1 << len(p) {
		for i := range p {
			x[0][i] = int32(state >> i & 1)
		}
		if err := m.Energy(ctx, x, u); err != nil {
			return nil, err
		}
		w := math.Exp(u[0])
		z += w
		for i, v := range x[0] {
			p[i] += w * float64(v)
		}
	}
	for i := range p {
		p[i] /= z
	}
	return p, nil
}

// noisy is the model with gradients that have noise, as those of a mini-batch.
type noisy struct{ *ising }

func (m noisy) StochasticGrad(ctx context.Context, x [][]int32, _ int, rng []*rand.Rand,
	u []float64, grad [][]float64) error {
	err := m.EnergyGrad(ctx, x, u, grad)
	for k := range grad {
		for i := range grad[k] {
			grad[k][i] += 0.1 * rng[k].NormFloat64()
		}
	}
	return err
}
