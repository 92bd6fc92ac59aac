package measure

import "fmt"

// distinctFillings is the share of different fillings among the states taken.
func distinctFillings(m *measured) ([]Metric, error) {
	distinct, total := 0, m.run.taken()
	for _, s := range m.run.Sentences {
		distinct += s.Distinct
	}
	x := newMetric("distinct_fillings", "distinct fillings", "%", 1, +1)
	if total > 0 {
		x.Value = 100 * float64(distinct) / float64(total)
		x.Detail = fmt.Sprintf("%d different of %d states, counted per sentence", distinct, total)
	} else {
		x.Warnings = []string{"no states were recorded"}
	}
	return one(x)
}

// taken is the number of states taken from all chains.
func (run *SamplerRun) taken() int {
	n := 0
	for _, s := range run.Sentences {
		n += s.Total
	}
	return n
}
