package torch

import (
	"math"
	"slices"
)

// accumulated gathers per-chain means over the slots of a cell. Chains are
// what is independent, so that errors come from the spread between them.
type accumulated struct{ prob, energy byChain }

type byChain struct {
	sum   [][]float64 // sentence, chain
	steps []float64   // per sentence
}

func newAccumulated(sentences, chains int) *accumulated {
	var a accumulated
	for _, b := range []*byChain{&a.prob, &a.energy} {
		b.steps = make([]float64, sentences)
		for range sentences {
			b.sum = append(b.sum, make([]float64, chains))
		}
	}
	return &a
}

func (a *accumulated) add(n int, s *slot) {
	a.prob.add(n, s.Steps, s.Prob)
	a.energy.add(n, s.Steps, s.Energy)
}

func (b *byChain) add(n, steps int, mean []float64) {
	for k, v := range mean {
		b.sum[n][k] += v * float64(steps)
	}
	b.steps[n] += float64(steps)
}

// mean is that over the sentences' means, with the standard error that the
// spread of the chains of each sentence gives.
func (b *byChain) mean() Mean {
	var value, variance, n float64
	for i, sums := range b.sum {
		if b.steps[i] == 0 {
			continue
		}
		var s, ss float64
		for _, v := range sums {
			v /= b.steps[i]
			s, ss = s+v, ss+v*v
		}
		c := float64(len(sums))
		value += s / c
		if c > 1 {
			variance += (ss - s*s/c) / (c - 1) / c
		}
		n++
	}
	return Mean{value / n, math.Sqrt(max(0, variance)) / n}
}

// median returns the middle of the values.
func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	switch {
	case n == 0:
		return math.NaN()
	case n%2 == 1:
		return v[n/2]
	}
	return (v[n/2-1] + v[n/2]) / 2
}

// A Ratio is a median of rounds with the smallest and the largest.
type Ratio struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

func ratioOf(v []float64) Ratio { return Ratio{median(v), slices.Min(v), slices.Max(v)} }

// rates are the chain-steps per second of every round.
func (r *Result) rates(name string) []float64 {
	s := r.Samplers[name]
	if s == nil {
		return nil
	}
	out := make([]float64, len(s.Rounds))
	for i, x := range s.Rounds {
		out[i] = float64(x.Steps*r.Chains) / x.Wall
	}
	return out
}

// ratio compares two samplers round by round.
func (r *Result) ratio(of, to string) Ratio {
	a, b := r.rates(of), r.rates(to)
	out := make([]float64, min(len(a), len(b)))
	for i := range out {
		out[i] = a[i] / b[i]
	}
	if len(out) == 0 {
		return Ratio{math.NaN(), math.NaN(), math.NaN()}
	}
	return ratioOf(out)
}

// gflops is the rate of a sampler's matrix products, GFLOP/s.
func (r *Result) gflops(name string) float64 {
	s := r.Samplers[name]
	wall := 0.0
	for _, x := range s.Rounds {
		wall += x.Wall
	}
	return s.FLOPs / wall / 1e9
}

// cpu is the CPU time of a chain-step, seconds, over all rounds.
func (r *Result) cpu(name string) float64 {
	var used, steps float64
	for _, x := range r.Samplers[name].Rounds {
		used, steps = used+x.CPU, steps+float64(x.Steps*r.Chains)
	}
	return used / steps
}

// moved is the share of proposals that differ from the state.
func (r *Result) moved() float64 {
	var moved, steps int
	for _, x := range r.Samplers[saving].Rounds {
		moved, steps = moved+x.Moved, steps+x.Steps*r.Chains
	}
	return float64(moved) / float64(steps)
}

// evaluated is how many states infill evaluated in a chain-step.
func (r *Result) evaluated() float64 {
	var states float64
	var steps int
	for _, x := range r.Samplers[ours].Rounds {
		states, steps = states+x.States, steps+x.Steps*r.Chains
	}
	return states / float64(steps)
}
