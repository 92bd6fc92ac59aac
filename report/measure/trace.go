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
		energies, accepted := make([]mean, sources), mean{} // of a sentence, and of all chains
		running, moved := 0, false
		for i, t := range run.Chains {
			if next[i] < len(t.Evaluations) {
				running++
			}
			for ; next[i] < len(t.Evaluations) && t.Evaluations[next[i]] <= at; next[i]++ {
				accepted.addOf(t.Accepted, next[i])
				moved = true
			}
			energies[t.Sentence].addOf(t.Energy, next[i]-1)
		}
		if !moved {
			continue
		}
		if accepted.n == 0 || 2*running < len(run.Chains) {
			accepted = mean{math.NaN(), 1}
		}
		m, se := meanOfMeans(energies)
		out.X, out.Energy, out.Error = append(out.X, at), append(out.Energy, m), append(out.Error, se)
		out.Acceptance = append(out.Acceptance, accepted.sum/float64(accepted.n))
	}
	if !slices.ContainsFunc(run.Chains, func(t ChainTrace) bool { return t.Accepted != nil }) {
		out.Acceptance = nil
	}
	return out
}

// addOf counts a value of a list, if it is there and finite.
func (m *mean) addOf(list []float64, k int) {
	if k >= 0 && k < len(list) && finite(list[k]) {
		m.add(&list[k])
	}
}

// meanOfMeans returns the mean over sentences of the means over their chains, and
// its standard error; NaN and 0 without any.
func meanOfMeans(of []mean) (mean, se float64) {
	var x []float64
	for _, m := range of {
		if m.n > 0 {
			x = append(x, m.sum/float64(m.n))
		}
	}
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
