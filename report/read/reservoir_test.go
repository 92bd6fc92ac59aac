package read

import (
	"math"
	"slices"
	"testing"
)

// Every stream position must be drawn equally often, and the sample stays in order.
func TestReservoirIsUniform(t *testing.T) {
	t.Parallel()
	const n, size, trials = 20, 5, 20_000
	var hits [n]float64
	for seed := range uint64(trials) {
		r := newReservoir[int](size, seed)
		for i := range n {
			r.add(i)
		}
		items := r.items()
		if len(items) != size || !slices.IsSorted(items) {
			t.Fatalf("sample %v", items)
		}
		for _, i := range items {
			hits[i]++
		}
	}
	p := float64(size) / n
	sd := math.Sqrt(trials * p * (1 - p))
	for i, h := range hits {
		if math.Abs(h-trials*p) > 5*sd {
			t.Errorf("position %d drawn %v times, want %v ± %.0f", i, h, trials*p, sd)
		}
	}
}
