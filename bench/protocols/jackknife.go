package main

import (
	"math"

	"infill/samplers"
)

// A difference is how a number of one sampler differs from that of another.
type difference struct {
	value float64
	half  float64 // of the 95 % interval; NaN with a single sentence
}

// jackknife is a statistic of n sentences with its interval, from its value on all of them and its
// values without each (Quenouille 1956, Tukey 1958, Efron and Stein 1981):
//
//	se² = (n−1)/n Σ_i (without_i − mean)²
//
// Self-BLEU is a number of a whole set of sentences. Single sentences have no value to compare,
// and a bootstrap would put the same sentence into a set twice. The
// statistics of two samplers on the same sentences are subtracted first, so that the difficulty of
// a sentence, which both share, does not widen the interval.
func jackknife(all float64, without []float64) difference {
	n := len(without)
	if n < 2 {
		return difference{all, math.NaN()}
	}
	return difference{all, student(n-1) * samplers.Jackknife(n, func(k int) float64 {
		return without[k]
	})}
}

// student is the 97.5 % point of Student's t with some degrees of freedom: exact for 1 and 2,
// and otherwise within .004 by the expansion of Abramowitz and Stegun 26.7.5.
func student(freedom int) float64 {
	const z = 1.959963984540054
	switch freedom {
	case 1:
		return 12.706204736432095
	case 2:
		return 4.302652729911275
	}
	f, z2 := float64(freedom), z*z
	g1 := z * (z2 + 1) / 4
	g2 := z * ((5*z2+16)*z2 + 3) / 96
	g3 := z * (((3*z2+19)*z2+17)*z2 - 15) / 384
	g4 := z * ((((79*z2+776)*z2+1482)*z2-1920)*z2 - 945) / 92160
	return z + g1/f + g2/(f*f) + g3/(f*f*f) + g4/(f*f*f*f)
}

// spread is the mean of values and their standard deviation, NaN with one.
func spread(v []float64) (mean, deviation float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	sum := 0.0
	for _, x := range v {
		sum += (x - mean) * (x - mean)
	}
	if len(v) < 2 {
		return mean, math.NaN()
	}
	return mean, math.Sqrt(sum / float64(len(v)-1))
}
