package diag

import "math"

// Tally adds up numbers whose weights are given by their logarithms (Chains.LogWeight), which can
// differ by thousands of nats. So all sums are relative to the largest weight so far:
//
//	w := t.Weigh(run.LogWeight[k]) // to be used before the next call
//	t.Sum[0] += w * f
//	mean := t.Sum[0] / t.Total // after all
type Tally struct {
	Sum   []float64 // Σ w f of the numbers, over exp(Scale)
	Total float64   // Σ w, over exp(Scale); 0 before any weight above 0
	Scale float64   // the largest log-weight so far; of no meaning while Total is 0
}

// NewTally returns a tally of n numbers.
func NewTally(n int) *Tally { return &Tally{Sum: make([]float64, n)} }

// Weigh adds a weight to Total and returns it over exp(Scale), in [0,1]: 0 for a log-weight of −∞.
func (t *Tally) Weigh(logWeight float64) float64 {
	w := t.weigh(logWeight)
	t.Total += w
	return w
}

func (t *Tally) weigh(logWeight float64) float64 {
	switch {
	case math.IsInf(logWeight, -1):
		return 0
	case t.Total == 0:
		t.Scale = logWeight
	case logWeight > t.Scale:
		f := math.Exp(t.Scale - logWeight)
		for i := range t.Sum {
			t.Sum[i] *= f
		}
		t.Total *= f
		t.Scale = logWeight
	}
	return math.Exp(logWeight - t.Scale)
}

// Add adds the sums of another tally of as many numbers.
func (t *Tally) Add(o *Tally) {
	if o.Total == 0 {
		return
	}
	w := t.weigh(o.Scale)
	for i, s := range o.Sum {
		t.Sum[i] += w * s
	}
	t.Total += w * o.Total
}
