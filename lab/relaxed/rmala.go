package relaxed

import (
	"context"
	"fmt"
	"math"

	"infill/samplers"
)

// RMALA is the relaxed Metropolis-adjusted Langevin algorithm, a baseline of Grathwohl and others
// (2021) and of DLP. It proposes by the gradient of the surrogate,
//
//	z' ~ N(z + ε∇log ρ(z), 2ε)
//
// and accepts by the density p, so that the states Γ(z) have the law π: it is exact. A step costs
// one gradient of the extension and, where the state changes, one energy of the target. Its
// public code has ε = 1/d at first, and t = 0.1 in one experiment.
type RMALA struct {
	StepSize    float64   // ε, above 0
	Temperature float64   // t, above 0
	Extension   Extension // of the target's U
}

// Info implements samplers.Sampler.
func (s *RMALA) Info() samplers.Info {
	return samplers.Info{Name: "rmala", Title: "Relaxed MALA", Exact: true, Corrected: true,
		Cost: "1 gradient of the extension, 1 energy where the state changes"}
}

// Attach implements samplers.Sampler. The error is samplers.ErrParam for a step size or
// temperature that is not above 0, and samplers.ErrUnsupported without an extension or for
// coordinates that are not binary and free.
func (s *RMALA) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	if !(s.StepSize > 0) || math.IsInf(s.StepSize, 1) {
		return nil, fmt.Errorf("%w: sampler %s: step size is %g, want a number above 0",
			samplers.ErrParam, s.Info().Name, s.StepSize)
	}
	sp, err := newSpace(c, s.Info().Name, s.Extension, s.Temperature)
	if err != nil {
		return nil, err
	}
	k := &rmalaKernel{space: sp, step: s.StepSize}
	n, d := c.Len(), c.Domain.Len()
	for range n {
		k.grad = append(k.grad, make([]float64, d))
		k.next = append(k.next, make([]float64, d))
		k.nextGrad = append(k.nextGrad, make([]float64, d))
		k.y = append(k.y, make([]int32, d))
	}
	k.changed = make([]int, n)
	return k, nil
}

type rmalaKernel struct {
	*space
	step           float64
	grad, nextGrad [][]float64 // ∇ log ρ at z and at the proposals
	next           [][]float64 // proposals
	y              [][]int32   // their states
	changed        []int       // sites that differ
	ask            [][]int32   // states to evaluate
	at             []int       // their chains
	u              []float64
}

// Prepare implements samplers.Kernel.
func (r *rmalaKernel) Prepare(ctx context.Context) error {
	if err := r.c.StartEnergies(ctx); err != nil {
		return err
	}
	if err := r.begin(); err != nil {
		return err
	}
	for k, z := range r.z {
		r.surrogate(z, r.grad[k])
	}
	return nil
}

// Step implements samplers.Kernel.
func (r *rmalaKernel) Step(ctx context.Context) error {
	r.ask, r.at = r.ask[:0], r.at[:0]
	for k, z := range r.z {
		normals(r.c.RNG[k], r.next[k])
		for i, v := range z {
			r.next[k][i] = v + r.step*r.grad[k][i] + math.Sqrt(2*r.step)*r.next[k][i]
		}
		copy(r.y[k], r.c.X[k])
		if r.changed[k] = r.state(r.next[k], r.y[k]); r.changed[k] > 0 {
			r.ask, r.at = append(r.ask, r.y[k]), append(r.at, k)
		}
	}
	r.u = append(r.u[:0], make([]float64, len(r.ask))...)
	if len(r.ask) > 0 {
		if err := r.c.Evaluate(ctx, r.at, r.ask, r.u, nil); err != nil {
			return err
		}
	}
	j := 0
	for k := range r.z {
		r.surrogate(r.next[k], r.nextGrad[k])
		r.c.Stats[k].Evals++
		u := r.c.U[k]
		if r.changed[k] > 0 {
			u = r.u[j]
			j++
		}
		r.decide(k, u)
	}
	return nil
}

// decide accepts or rejects the proposal of chain k, whose energy is u.
func (r *rmalaKernel) decide(k int, u float64) {
	la := half(r.next[k]) + u - half(r.z[k]) - r.c.U[k] +
		r.logDensity(r.next[k], r.nextGrad[k], r.z[k]) - r.logDensity(r.z[k], r.grad[k], r.next[k])
	move := samplers.Move{Moved: r.changed[k] > 0, Flips: r.changed[k]}
	switch {
	case math.IsInf(u, -1):
		r.c.Stats[k].Zero++
	case math.IsNaN(la) || math.IsInf(u, 1):
		r.c.Stats[k].NonFinite++
	default:
		move.Prob = math.Min(1, math.Exp(la))
	}
	if r.c.RNG[k].Float64() < move.Prob {
		move.Accepted, move.Hamming = move.Moved, r.changed[k]
		r.c.X[k], r.y[k] = r.y[k], r.c.X[k]
		r.z[k], r.next[k] = r.next[k], r.z[k]
		r.grad[k], r.nextGrad[k] = r.nextGrad[k], r.grad[k]
		r.c.U[k] = u
	}
	r.c.Last[k] = move
}

// logDensity is log q(to | from), up to a constant, where grad = ∇ log ρ(from).
func (r *rmalaKernel) logDensity(from, grad, to []float64) float64 {
	sum := 0.0
	for i, v := range from {
		e := to[i] - v - r.step*grad[i]
		sum -= e * e / (4 * r.step)
	}
	return sum
}
