// Package interval has the quantiles of Student's t distribution, and the intervals of a jackknife
// that are made with them.
package interval

import (
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Student is the t for which |T| ≤ t with probability level, for T of Student's distribution with
// the given degrees of freedom: the half width, in standard errors, of an interval of that level.
// Level is in (0,1), freedom at least 1. Others give NaN.
//
// The finite sums of Abramowitz and Stegun 26.7.3 and 26.7.4 are inverted, which takes some 50 sums
// of freedom/2 terms.
func Student(level float64, freedom int) float64 {
	if !(level > 0 && level < 1) || freedom < 1 {
		return math.NaN()
	}
	// In the angle θ = atan(t/√ν) the probability rises from 0 to 1 on a finite interval.
	low, high := 0.0, math.Pi/2
	for range 200 {
		mid := (low + high) / 2
		if mid == low || mid == high {
			break
		}
		if within(mid, freedom) < level {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Tan((low+high)/2) * math.Sqrt(float64(freedom))
}

// within is P(|T| ≤ √ν tan θ) for ν degrees of freedom.
func within(theta float64, freedom int) float64 {
	sin, cos := math.Sincos(theta)
	if freedom == 1 {
		return 2 / math.Pi * theta
	}
	term, sum := 1.0, 1.0
	if freedom%2 == 1 {
		term, sum = cos, cos
		for k := 3; k <= freedom-2; k += 2 {
			term *= cos * cos * float64(k-1) / float64(k)
			sum += term
		}
		return 2 / math.Pi * (theta + sin*sum)
	}
	for k := 2; k <= freedom-2; k += 2 {
		term *= cos * cos * float64(k-1) / float64(k)
		sum += term
	}
	return sin * sum
}

// Without has a value of units without each block of them in turn. The blocks are neighbours, and
// most at most. Values are made at the same time. The error is the first one's.
func Without[U, V any](units []U, most int, value func(rest []U) (V, error)) ([]V, error) {
	n := min(len(units), most)
	out := make([]V, n)
	var each errgroup.Group
	each.SetLimit(runtime.GOMAXPROCS(0))
	for k := range n {
		each.Go(func() (err error) {
			out[k], err = value(slices.Concat(units[:k*len(units)/n], units[(k+1)*len(units)/n:]))
			return err
		})
	}
	return out, each.Wait()
}

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
