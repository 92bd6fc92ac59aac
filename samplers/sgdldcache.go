package samplers

import (
	"context"
	"fmt"
	"math"
)

// maxNeighbours is the largest number of neighbours whose ratios are asked for one by one.
const maxNeighbours = 1 << 14

// needsRatios names the abilities that give ratioRates.
const needsRatios = "ratios of neighbours from a mini-batch (EstimateRatios)"

// source picks the ability that the estimates come from.
func (s *sgdldKernel) source() error {
	c, rates := s.c, s.s.Rates
	grad, gradients := c.Target.(StochasticGradienter)
	ratio, ratios := c.Target.(RatioEstimator)
	affordable := false
	if ratios {
		s.means, affordable = ratio.RatioKind()
		affordable = affordable || s.means
	}
	if rates == autoRates && gradients && !affordable {
		rates = TaylorRates
	}
	switch {
	case rates == TaylorRates && !gradients:
		return &abilityError{sgdldInfo.Name, "stochastic gradients (StochasticGrad) for Taylor rates",
			"leave the parameter rates out"}
	case rates == TaylorRates:
		s.grad = grad
		return nil
	case rates == ratioRates && !ratios:
		return &abilityError{sgdldInfo.Name, needsRatios, "leave the parameter rates out"}
	case !ratios:
		return &abilityError{sgdldInfo.Name, "stochastic gradients (StochasticGrad) or " + needsRatios,
			"use dlmc or dmala, which need full gradients"}
	}
	count := 0
	for i := range c.Domain.coords {
		if c.Domain.coords[i].Kind == Ordinal {
			return &abilityError{sgdldInfo.Name, "ratio estimates of ordinal coordinates",
				"declare them nominal"}
		}
		count += c.Domain.free[i] - 1
	}
	s.ratio = ratio
	if s.means {
		s.den, s.sumDen = matrix[float64](c.Len(), c.Domain.gradLen),
			matrix[float64](c.Len(), c.Domain.gradLen)
	}
	if affordable {
		return nil // the target gives them all together, so their number is its own business
	}
	if count > maxNeighbours {
		return fmt.Errorf("%w: sgdld would evaluate %d neighbours of a state, more than %d; restrict "+
			"the support of each coordinate to a fixed candidate set", ErrTooMany, count, maxNeighbours)
	}
	return nil
}

// estimate adds a mini-batch to each cache and sets the weights of the states
// at time t.
func (s *sgdldKernel) estimate(ctx context.Context, t int) error {
	c := s.c
	var err error
	switch {
	case s.ratio != nil:
		err = s.ratio.EstimateRatios(ctx, c.X, s.s.Batch, c.RNG, s.num, s.den)
	default:
		err = s.grad.StochasticGrad(ctx, c.X, s.s.Batch, c.RNG, s.u, s.num)
	}
	if err != nil {
		return err
	}
	for k, x := range c.X {
		c.Stats[k].Evals++
		usable := s.usable(k, x)
		if !usable {
			c.Stats[k].NonFinite++
		}
		switch f := s.from[k]; {
		case !usable && f.i >= 0:
			// Nothing is known of the state jumped to, so the jump is rejected.
			// The cache still holds what it did.
			x[f.i], s.n[k] = f.v, f.n
			c.Last[k] = Move{Moved: true, Flips: 1}
		case s.s.NoCache:
			s.n[k] = 0
		}
		if usable {
			s.remember(k)
			s.n[k]++
		}
		s.setRates(k, t, usable)
	}
	return nil
}

// setRates makes the rates of chain k at time t of its cache, and the weight of its state. fresh
// says that the cache has a new estimate.
func (s *sgdldKernel) setRates(k, t int, fresh bool) {
	c, x := s.c, s.c.X[k]
	if s.n[k] == 0 { // no usable estimate yet: the state waits for one
		s.sick[k], c.LogWeight[k] = true, negInf
		return
	}
	s.logRatios(k, x)
	s.sites.score(x, s.delta[k])
	s.logZ[k] = logSumExp(s.sites.lw)
	c.LogWeight[k] = math.Log(s.h(t)) - s.logZ[k]
	if s.s.Time > 0 {
		c.LogWeight[k] = math.Log(s.s.Time)
	}
	s.sick[k] = s.sites.bad()
	switch isolated := math.IsInf(maxOf(s.sites.lw), -1); {
	case !s.sick[k] || isolated && s.s.Time > 0:
	case isolated:
		c.LogWeight[k] = negInf
	default:
		c.LogWeight[k] = negInf
		if fresh {
			c.Stats[k].NonFinite++
		}
	}
}

// usable reports whether the entries of the latest estimate that count, those
// of the allowed categories of the coordinates that can change, are numbers, or
// logarithms of 0.
// One that is not would stay in the cache's sums for as long as the state.
func (s *sgdldKernel) usable(k int, x []int32) bool {
	d := s.c.Domain
	for _, i := range s.free {
		c := &d.coords[i]
		num := d.grad(s.num[k], int(i))
		var den []float64
		if s.means {
			den = d.grad(s.den[k], int(i))
		}
		for v, e := range num {
			if finite(e) && (den == nil || finite(den[v])) {
				continue
			}
			if c.Kind == Nominal && (!c.ok(v) || s.grad == nil && int32(v) == x[i]) {
				continue
			}
			if !s.counts(e) || den != nil && !s.counts(den[v]) {
				return false
			}
		}
	}
	return true
}

// counts reports whether an entry of an estimate is a number, or a logarithm of 0.
func (s *sgdldKernel) counts(e float64) bool {
	return finite(e) || s.grad == nil && math.IsInf(e, -1)
}

// remember adds the latest estimate to the cache, which may be empty.
func (s *sgdldKernel) remember(k int) {
	sum, den := s.sumNum[k], []float64(nil)
	if s.means {
		den = s.sumDen[k]
	}
	switch {
	case s.n[k] == 0:
		copy(sum, s.num[k])
		if den != nil {
			copy(den, s.den[k])
		}
	case den != nil:
		for j, v := range s.num[k] {
			sum[j], den[j] = logAddExp(sum[j], v), logAddExp(den[j], s.den[k][j])
		}
	default:
		for j, v := range s.num[k] {
			sum[j] += v
		}
	}
}

// logRatios writes the cached estimate as a gradient.
func (s *sgdldKernel) logRatios(k int, x []int32) {
	out := s.delta[k]
	if s.means {
		for j := range out {
			out[j] = s.sumNum[k][j] - s.sumDen[k][j]
		}
	} else {
		f := 1 / float64(s.n[k])
		for j, v := range s.sumNum[k] {
			out[j] = v * f
		}
	}
	if s.grad != nil {
		return
	}
	for i := range s.c.Domain.coords {
		co := &s.c.Domain.coords[i]
		o := s.c.Domain.off[i]
		if co.Kind == Binary {
			out[o] *= float64(1-2*x[i]) / co.Step
		} else {
			out[o+int(x[i])] = 0
		}
	}
}
