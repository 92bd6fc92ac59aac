package search

import (
	"cmp"
	"slices"
	"testing"
)

// The likeliest of a row are the first of its sorted order, with ties and with few values.
func TestHighest(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 17, 500, 3000} {
		logp := make([]float64, n)
		order := make([]int32, n)
		for v := range logp {
			logp[v], order[v] = float64((v*7919)%101), int32(v)
		}
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(logp[b], logp[a]) })
		for k := 1; k <= n; k += 1 + k/8 {
			if got := highest(logp, k); !slices.Equal(got, order[:k]) {
				t.Fatalf("%d of %d values: %v, want %v", k, n, got, order[:k])
			}
		}
	}
}
