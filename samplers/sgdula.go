package samplers

import (
	"context"
	"math"
)

// maxBatch bounds the terms of a mini-batch; targets clamp it further to what
// they have.
const maxBatch = 1_000_000

// sgKernel is stochastic-gradient DULA (DLP, section 6 and theorem 6.1): the
// proposal of DULA with ∇U replaced by an unbiased estimate ∇Û from a mini-batch,
// a new one each step, always taken:
//
//	q_i(v) ∝ exp(½Δ̂_i(v) − ‖v − θ_i‖²/(2α)),   E ∇Û = ∇U
//
// Nothing is corrected, and U is not evaluated. The theorem is about one step.
// The bias of the stationary law stays as α falls, as E exp(½Δ̂) is above exp(½Δ).
type sgKernel struct {
	c     *Chains
	p     dlpProposer
	t     StochasticGradienter
	batch int
	u     []float64
	y     []int32
}

func newSGKernel(c *Chains, name string, d *dlp, batch int) (Kernel, error) {
	t, ok := c.Target.(StochasticGradienter)
	if !ok {
		return nil, &abilityError{name, "stochastic gradients (StochasticGrad)",
			"leave the batch parameter out to use full gradients"}
	}
	c.Grad = matrix[float64](c.Len(), c.Domain.gradLen)
	return &sgKernel{
		c: c, p: dlpProposer{newFactorised(c.Domain, d, c.Len()), d, nil}, t: t, batch: batch,
		u: make([]float64, c.Len()), y: make([]int32, c.Domain.Len()),
	}, nil
}

// Prepare implements Kernel. Every step has a gradient of its own, so nothing is kept.
func (s *sgKernel) Prepare(context.Context) error { return nil }

// Step implements Kernel.
func (s *sgKernel) Step(ctx context.Context) error {
	c := s.c
	if err := s.t.StochasticGrad(ctx, c.X, s.batch, c.RNG, s.u, c.Grad); err != nil {
		return err
	}
	for k, x := range c.X {
		c.Stats[k].Evals++
		copy(s.y, x)
		s.p.forget(k) // every step has a gradient of its own
		if lq := s.p.Propose(k, x, c.Grad[k], c.RNG[k], s.y); math.IsNaN(lq) {
			c.Stats[k].NonFinite++
			c.Last[k] = Move{}
			continue
		}
		m := Move{Prob: 1}
		m.Flips = hamming(x, s.y)
		m.Hamming = m.Flips
		if m.Flips > 0 {
			m.Moved, m.Accepted = true, true
			copy(x, s.y)
			c.U[k] = math.NaN()
		}
		c.Last[k] = m
	}
	return nil
}

// tuning implements tuned.
// Tuning is what Run.Tuning gives.
func (s *sgKernel) Tuning(k int) map[string]float64 { return s.p.Tuning(k) }
