package chains

import (
	"cmp"
	"math"
	"slices"

	"infill/lab/internal/diag"
)

// RankRHat is the rank-normalised split R-hat of several chains: the larger one of the split R-hat
// of the values' normal scores, and of those of their distances from the median (Vehtari and
// others, "Rank-normalization, folding, and localization", 2021, equation 14 and section 4.2).
// NaN for fewer than 4 values a chain. Indices are chain, step.
func RankRHat(values [][]float64) float64 {
	all := slices.Concat(values...)
	slices.Sort(all)
	if len(all) == 0 {
		return math.NaN()
	}
	n := len(all)
	median := (all[(n-1)/2] + all[n/2]) / 2
	folded := make([][]float64, len(values))
	for k, c := range values {
		for _, v := range c {
			folded[k] = append(folded[k], math.Abs(v-median))
		}
	}
	return math.Max(diag.SplitRHat(normalScores(values)), diag.SplitRHat(normalScores(folded)))
}

// normalScores puts Φ⁻¹((r − 3/8) / (n + 1/4)) in place of every value, with its rank r among all
// n, the mean one of equal values.
func normalScores(values [][]float64) [][]float64 {
	type place struct{ chain, step int }
	var order []place
	out := make([][]float64, len(values))
	for k, c := range values {
		out[k] = make([]float64, len(c))
		for s := range c {
			order = append(order, place{k, s})
		}
	}
	at := func(p place) float64 { return values[p.chain][p.step] }
	slices.SortFunc(order, func(a, b place) int { return cmp.Compare(at(a), at(b)) })
	n := float64(len(order))
	for first := 0; first < len(order); {
		last := first
		for last+1 < len(order) && at(order[last+1]) == at(order[first]) {
			last++
		}
		rank := float64(first+last)/2 + 1
		for _, p := range order[first : last+1] {
			out[p.chain][p.step] = math.Sqrt2 * math.Erfinv(2*(rank-0.375)/(n+0.25)-1)
		}
		first = last + 1
	}
	return out
}
