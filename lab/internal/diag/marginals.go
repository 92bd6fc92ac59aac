package diag

import "infill/samplers"

// Marginals counts how often each coordinate had each of its values in all chains, with the weights
// of the states. Its Observe is a visit function for samplers.Run.Sample.
type Marginals struct {
	dom *samplers.Domain
	sum *Tally
	at  []int // coordinate i's numbers in sum begin at at[i]
}

// Observe counts the current states.
func (m *Marginals) Observe(r *samplers.Run) error {
	if m.sum == nil {
		m.dom = r.Domain
		n := 0
		for i := range m.dom.Len() {
			m.at = append(m.at, n)
			n += m.dom.K(i)
		}
		m.sum = NewTally(n)
	}
	for k, x := range r.X {
		w := m.sum.Weigh(r.LogWeight[k])
		for i, v := range x {
			m.sum.Sum[m.at[i]+int(v)] += w
		}
	}
	return nil
}

// Of returns the share of each value of coordinate i, NaN before any state of positive weight was
// observed, and nil before the first call of Observe.
func (m *Marginals) Of(i int) []float64 {
	if m.sum == nil {
		return nil
	}
	out := make([]float64, m.dom.K(i))
	for v := range out {
		out[v] = m.sum.Sum[m.at[i]+v] / m.sum.Total
	}
	return out
}

// Mean is the mean of the values of coordinate i, 0 before the first call of
// Observe. For a nominal coordinate the values are the categories' numbers.
func (m *Marginals) Mean(i int) float64 {
	sum := 0.0
	for v, p := range m.Of(i) {
		sum += p * m.dom.Value(i, int32(v))
	}
	return sum
}
