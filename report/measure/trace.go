package measure

import (
	"math"
	"slices"
)

// Trace averages the chains over 1, 2, … evaluations a chain: first over the chains of a sentence,
// then over sentences, so that sentences with more chains do not count more. At each number of
// evaluations a chain is where its last step within them has left it. Its acceptance covers the
// steps since the evaluation before. Where fewer than half of the chains still run it is NaN: the
// few that go on are not like the others.
func (run *SamplerRun) trace(sources int) Trace {
	out := Trace{Sampler: run.Name, Chains: len(run.Chains), Evaluations: true}
	most := 0.0
	for _, t := range run.Chains {
		if n := len(t.Evaluations); n > 0 {
			most = max(most, t.Evaluations[n-1])
		}
	}
	next := make([]int, len(run.Chains)) // first step that each chain has not made
	for at := 1.0; at < most+1; at++ {
		at = min(at, most)
		p, moved := newMoment(sources), false
		for i, t := range run.Chains {
			if next[i] < len(t.Evaluations) {
				p.running++
			}
			for next[i] < len(t.Evaluations) && t.Evaluations[next[i]] <= at {
				p.step(&t, next[i])
				next[i]++
				moved = true
			}
			p.state(&t, next[i]-1)
		}
		if moved {
			p.enter(&out, at)
		}
	}
	if !slices.ContainsFunc(run.Chains, func(t ChainTrace) bool { return t.Accepted != nil }) {
		out.Acceptance = nil
	}
	return out
}

// A moment is one of the course of all chains.
type moment struct {
	sums, counts []float64 // of energies, by sentence
	accepted     mean
	running      int // chains
}

func newMoment(sources int) *moment {
	return &moment{sums: make([]float64, sources), counts: make([]float64, sources)}
}

// state adds the energy of a chain after step k.
func (p *moment) state(t *ChainTrace, k int) {
	if k >= 0 && k < len(t.Energy) && finite(t.Energy[k]) {
		p.sums[t.Sentence] += t.Energy[k]
		p.counts[t.Sentence]++
	}
}

// step adds the acceptance of step k.
func (p *moment) step(t *ChainTrace, k int) {
	if k < len(t.Accepted) && finite(t.Accepted[k]) {
		p.accepted.add(&t.Accepted[k])
	}
}

// enter puts the means of the moment into the course.
func (p *moment) enter(out *Trace, x float64) {
	m, se := meanOfMeans(p.sums, p.counts)
	out.X, out.Energy, out.Error = append(out.X, x), append(out.Energy, m), append(out.Error, se)
	a := math.NaN()
	if p.accepted.n > 0 && 2*p.running >= out.Chains {
		a = p.accepted.sum / float64(p.accepted.n)
	}
	out.Acceptance = append(out.Acceptance, a)
}

// meanOfMeans returns the mean over sentences of the means over their chains, and
// its standard error.
func meanOfMeans(sums, counts []float64) (mean, se float64) {
	var means []float64
	for i := range sums {
		if counts[i] > 0 {
			means = append(means, sums[i]/counts[i])
		}
	}
	return meanError(means)
}

// meanError returns the mean and its standard error, NaN and 0 for no values.
func meanError(x []float64) (mean, se float64) {
	if len(x) == 0 {
		return math.NaN(), 0
	}
	for _, v := range x {
		mean += v / float64(len(x))
	}
	if len(x) < 2 {
		return mean, 0
	}
	for _, v := range x {
		se += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(se / float64(len(x)-1) / float64(len(x)))
}
