package search

import (
	"cmp"
	"math"
	"slices"
)

// highest are the n likeliest categories of a row, in order. No more are sorted.
func highest(logp []float64, n int) []int32 {
	const slack = 4 // candidates to hold for each that is wanted
	before := func(a, b int32) int { return cmp.Or(cmp.Compare(logp[b], logp[a]), cmp.Compare(a, b)) }
	held := make([]int32, 0, min(slack*n, len(logp)))
	least := math.Inf(-1) // of the n likeliest so far
	for v, lp := range logp {
		if len(held) >= n && lp < least {
			continue
		}
		held = append(held, int32(v))
		if len(held) == slack*n {
			slices.SortFunc(held, before)
			held = held[:n]
			least = logp[held[n-1]]
		}
	}
	slices.SortFunc(held, before)
	return held[:n]
}
