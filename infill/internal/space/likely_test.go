package space

import (
	"cmp"
	"slices"
	"testing"
)

// The lazy order of a row is its sorted order, with ties and with few values.
func TestLikely(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 17, 500, 3000} {
		logp := make([]float64, n)
		order := make([]int32, n)
		for v := range logp {
			logp[v], order[v] = float64((v*7919)%101), int32(v)
		}
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(logp[b], logp[a]) })
		l := Likely{LogP: logp}
		for r := range logp {
			if got := l.At(r); got != order[r] {
				t.Fatalf("%d values: rank %d is %d, want %d", n, r, got, order[r])
			}
		}
	}
}
