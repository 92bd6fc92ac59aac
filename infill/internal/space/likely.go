package space

import (
	"cmp"
	"math"
	"slices"
)

// Likely has the categories of a row in the order of their log-probabilities, the likeliest first.
// Of the usual row only the first few are asked for, so no more are sorted.
type Likely struct {
	LogP  []float64
	order []int32
}

// At is the category of a rank, from 0.
func (l *Likely) At(rank int) int32 {
	const few, more = 16, 8
	for rank >= len(l.order) {
		n := min(max(few, more*len(l.order)), len(l.LogP))
		l.order = l.First(n)
	}
	return l.order[rank]
}

// before orders categories.
func (l *Likely) before(a, b int32) int {
	return cmp.Or(cmp.Compare(l.LogP[b], l.LogP[a]), cmp.Compare(a, b))
}

// First sorts the n likeliest categories.
func (l *Likely) First(n int) []int32 {
	const slack = 4 // candidates to hold for each that is wanted
	held := make([]int32, 0, min(slack*n, len(l.LogP)))
	least := math.Inf(-1) // of the n likeliest so far
	for v, lp := range l.LogP {
		if len(held) >= n && lp < least {
			continue
		}
		held = append(held, int32(v))
		if len(held) == slack*n {
			slices.SortFunc(held, l.before)
			held = held[:n]
			least = l.LogP[held[n-1]]
		}
	}
	slices.SortFunc(held, l.before)
	return held[:n]
}
