package samplers

// Marginals counts how often each coordinate had each of its values, with the
// weights of the states. Its Observe is a visit function for Run.Sample:
//
//	var m samplers.Marginals
//	err := run.Sample(ctx, 1000, m.Observe)
//	fmt.Println(m.Of(0)) // estimates of P(θ_0 = v) for v = 0, 1, …
//
// All chains count together.
type Marginals struct {
	dom   *Domain
	sum   [][]float64 // [coordinate][value]
	total float64
}

// Observe counts the current states.
func (m *Marginals) Observe(r *Run) error {
	if m.sum == nil {
		m.dom = r.Domain
		for i := range m.dom.Len() {
			m.sum = append(m.sum, make([]float64, m.dom.K(i)))
		}
	}
	for k, x := range r.X {
		w := r.Weight[k]
		m.total += w
		for i, v := range x {
			m.sum[i][v] += w
		}
	}
	return nil
}

// Of returns the share of each value of coordinate i. The shares sum to 1, and
// are NaN before any state of positive weight was observed. It is nil before the
// first call of Observe.
func (m *Marginals) Of(i int) []float64 {
	if m.sum == nil {
		return nil
	}
	out := make([]float64, len(m.sum[i]))
	for v, s := range m.sum[i] {
		out[v] = s / m.total
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
