package report

import "math"

// trace averages the chains: first over the chains of a sentence, then over
// sentences, so that sentences with more chains do not count more.
func (run *SamplerRun) trace(sources int) Trace {
	for _, t := range run.Chains {
		if t.Evaluations == nil {
			return run.byStep(sources)
		}
	}
	return run.byEvaluations(sources)
}

// byEvaluations is the course over 1, 2, … evaluations a chain. At each of these a
// chain is where its last step within them has left it. Its acceptance is that of
// the steps since the evaluation before. Where fewer than half of the chains still
// run the acceptance is NaN: the few that go on are not like the others.
func (run *SamplerRun) byEvaluations(sources int) Trace {
	out := Trace{Sampler: run.Name, Chains: len(run.Chains), Evaluations: true}
	most := 0.0
	for _, t := range run.Chains {
		if n := len(t.Evaluations); n > 0 {
			most = max(most, t.Evaluations[n-1])
		}
	}
	next := make([]int, len(run.Chains)) // first step that each chain has not made
	for at := 1.0; at < most+1; at++ {
		if at > most {
			at = most
		}
		sums, counts := make([]float64, sources), make([]float64, sources)
		accepted, n, moved, running := 0.0, 0.0, false, 0
		for i, t := range run.Chains {
			if next[i] < len(t.Evaluations) {
				running++
			}
			for next[i] < len(t.Evaluations) && t.Evaluations[next[i]] <= at {
				if k := next[i]; k < len(t.Accepted) && finite(t.Accepted[k]) {
					accepted += t.Accepted[k]
					n++
				}
				next[i]++
				moved = true
			}
			if k := next[i] - 1; k >= 0 && k < len(t.Energy) && finite(t.Energy[k]) {
				sums[t.Sentence] += t.Energy[k]
				counts[t.Sentence]++
			}
		}
		if !moved {
			continue
		}
		m, se := meanOfMeans(sums, counts)
		out.X, out.Energy, out.Error = append(out.X, at), append(out.Energy, m), append(out.Error, se)
		a := math.NaN()
		if n > 0 && 2*running >= len(run.Chains) {
			a = accepted / n
		}
		out.Acceptance = append(out.Acceptance, a)
	}
	if !run.accepts() {
		out.Acceptance = nil
	}
	return out
}

// accepts reports whether any chain recorded acceptance.
func (run *SamplerRun) accepts() bool {
	for _, t := range run.Chains {
		if t.Accepted != nil {
			return true
		}
	}
	return false
}

// byStep is the course over steps, spread evenly over the evaluations if those
// are known. The acceptance is NaN where fewer than half of the chains still run.
func (run *SamplerRun) byStep(sources int) Trace {
	steps := 0
	for _, t := range run.Chains {
		steps = max(steps, len(t.Energy), len(t.Accepted))
	}
	out := Trace{Sampler: run.Name, Chains: len(run.Chains)}
	per := 1.0
	if run.Evaluations > 0 && steps > 0 {
		out.Evaluations = true
		per = float64(run.Evaluations) / float64(len(run.Chains)) / float64(steps)
	}
	for k := range steps {
		out.X = append(out.X, per*float64(k+1))
		sums, counts := make([]float64, sources), make([]float64, sources)
		accepted, n, running := 0.0, 0.0, 0
		for _, t := range run.Chains {
			if k < len(t.Energy) && finite(t.Energy[k]) {
				sums[t.Sentence] += t.Energy[k]
				counts[t.Sentence]++
			}
			if k < len(t.Accepted) {
				running++
				if finite(t.Accepted[k]) {
					accepted += t.Accepted[k]
					n++
				}
			}
		}
		m, se := meanOfMeans(sums, counts)
		out.Energy = append(out.Energy, m)
		out.Error = append(out.Error, se)
		if running > 0 {
			a := math.NaN()
			if n > 0 && 2*running >= len(run.Chains) {
				a = accepted / n
			}
			out.Acceptance = append(out.Acceptance, a)
		}
	}
	return out
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
