package infill

import (
	"cmp"
	"math"
	"slices"
)

// likely has the categories of a row in the order of their log-probabilities, the likeliest first.
// Of the usual row only the first few are asked for, so no more are sorted.
type likely struct {
	logp  []float64
	order []int32
}

// at is the category of a rank, from 0.
func (l *likely) at(rank int) int32 {
	const few, more = 16, 8
	for rank >= len(l.order) {
		n := min(max(few, more*len(l.order)), len(l.logp))
		l.order = l.first(n)
	}
	return l.order[rank]
}

// before orders categories.
func (l *likely) before(a, b int32) int {
	return cmp.Or(cmp.Compare(l.logp[b], l.logp[a]), cmp.Compare(a, b))
}

// first sorts the n likeliest categories.
func (l *likely) first(n int) []int32 {
	const slack = 4 // candidates to hold for each that is wanted
	held := make([]int32, 0, min(slack*n, len(l.logp)))
	least := math.Inf(-1) // of the n likeliest so far
	for v, lp := range l.logp {
		if len(held) >= n && lp < least {
			continue
		}
		held = append(held, int32(v))
		if len(held) == slack*n {
			slices.SortFunc(held, l.before)
			held = held[:n]
			least = l.logp[held[n-1]]
		}
	}
	slices.SortFunc(held, l.before)
	return held[:n]
}
