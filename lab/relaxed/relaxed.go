// Package relaxed has two baselines of the literature that move in a continuous space in place
// of the discrete one, for binary coordinates. They are here to be compared with, and are not
// samplers that infill offers.
//
// Both work on z ∈ ℝ^d. A state is the sign pattern of z, θ = Γ(z), and with the standard normal
// density φ
//
//	p(z) ∝ φ(z)·exp(U(Γ(z)))
//
// is a density whose Γ(z) has the law π exactly, because every orthant has the same normal mass
// (Han and others 2020, "Stein variational inference for discrete distributions"). p jumps where a
// sign changes, so gradients come from a smooth surrogate
//
//	ρ(z) ∝ φ(z)·exp(U(Γ̃(z))),   Γ̃(z)_i = low + (high − low)·σ(z_i/t)
//
// with U continued to the values between the two of a coordinate, and a temperature t. At low t
// it is near p and steep at 0, at high t smooth and far from p.
package relaxed

import (
	"fmt"
	"math"
	"math/rand/v2"

	"infill/samplers"
)

// Extension is U continued to all values between those of the domain. It fills grad with ∇U and
// returns U, up to the same constant as the target's energy.
type Extension func(theta, grad []float64) float64

// space is the relaxed space of a target's chains.
type space struct {
	c         *samplers.Chains
	extension Extension
	t         float64     // temperature
	low, high []float64   // values of the coordinates
	z         [][]float64 // [chain][coordinate]
	theta     []float64   // scratch
	begun     bool
}

// newSpace checks that all coordinates are binary and free.
func newSpace(c *samplers.Chains, name string, ext Extension, t float64) (*space, error) {
	d := c.Domain
	switch {
	case ext == nil:
		return nil, fmt.Errorf("%w: sampler %s needs an extension of U to real values",
			samplers.ErrUnsupported, name)
	case !(t > 0) || math.IsInf(t, 1):
		return nil, fmt.Errorf("%w: sampler %s: temperature is %g, want a number above 0",
			samplers.ErrParam, name, t)
	}
	s := &space{c: c, extension: ext, t: t, low: make([]float64, d.Len()),
		high: make([]float64, d.Len()), theta: make([]float64, d.Len()), z: make([][]float64, c.Len())}
	for i := range s.low {
		if d.K(i) != 2 || !d.Allows(i, 0) || !d.Allows(i, 1) {
			return nil, fmt.Errorf("%w: sampler %s: coordinate %d has not two free values",
				samplers.ErrUnsupported, name, i)
		}
		s.low[i], s.high[i] = d.Value(i, 0), d.Value(i, 1)
	}
	for k := range s.z {
		s.z[k] = make([]float64, d.Len())
	}
	return s, nil
}

// begin draws z of all chains given their states: absolute values of normal numbers, with the signs
// of the state. This is the law p given Γ(z). A second time it is an error: the chains are at z
// already, whose law belongs to the earlier target.
func (s *space) begin() error {
	if s.begun {
		return fmt.Errorf("%w: relaxed chains cannot go on with another target; start another run at "+
			"their states", samplers.ErrUnsupported)
	}
	s.begun = true
	for k, x := range s.c.X {
		for i, v := range x {
			s.z[k][i] = math.Abs(s.c.RNG[k].NormFloat64()) * float64(2*v-1)
		}
	}
	return nil
}

// state writes Γ(z) to x and returns how many coordinates changed.
func (s *space) state(z []float64, x []int32) (changed int) {
	for i, v := range z {
		y := int32(0)
		if v > 0 {
			y = 1
		}
		if y != x[i] {
			x[i] = y
			changed++
		}
	}
	return changed
}

// surrogate returns U(Γ̃(z)) and fills grad with ∇ log ρ(z).
func (s *space) surrogate(z, grad []float64) float64 {
	for i, v := range z {
		s.theta[i] = s.low[i] + (s.high[i]-s.low[i])/(1+math.Exp(-v/s.t))
	}
	u := s.extension(s.theta, grad)
	for i, v := range z {
		p := 1 / (1 + math.Exp(-v/s.t))
		grad[i] = grad[i]*(s.high[i]-s.low[i])*p*(1-p)/s.t - v
	}
	return u
}

// half is −‖z‖²/2, log φ up to a constant.
func half(z []float64) float64 {
	sum := 0.0
	for _, v := range z {
		sum -= v * v / 2
	}
	return sum
}

// normals fills x with standard normal numbers.
func normals(rng *rand.Rand, x []float64) {
	for i := range x {
		x[i] = rng.NormFloat64()
	}
}
