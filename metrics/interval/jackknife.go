package interval

import "math"

// Jackknife is half the width of an interval of a figure of n parts, from its values without each
// part in turn (Quenouille 1956, Tukey 1958, Efron and Stein 1981):
//
//	t · √((n−1)/n Σ_k (without_k − mean)²)
//
// with t of n−1 degrees of freedom. Of the mean of n numbers it is Student's interval. Fewer than
// two parts give NaN.
func Jackknife(level float64, without []float64) float64 {
	n := float64(len(without))
	mean, square := 0.0, 0.0
	for _, v := range without {
		mean += v / n
	}
	for _, v := range without {
		square += (v - mean) * (v - mean)
	}
	return Student(level, len(without)-1) * math.Sqrt((n-1)/n*square)
}
