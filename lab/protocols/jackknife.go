package protocols

import (
	"math"

	"infill/metrics/interval"
)

// A difference is how a number of one sampler differs from that of another.
type difference struct {
	value float64
	half  float64 // of the 95 % interval; NaN with a single sentence
}

// jackknife is a statistic of n sentences with its interval, from its value on all of them and its
// values without each.
//
// Self-BLEU is a number of a whole set of sentences. Single sentences have no value to compare,
// and a bootstrap would put the same sentence into a set twice. The
// statistics of two samplers on the same sentences are subtracted first, so that the difficulty of
// a sentence, which both share, does not widen the interval.
func jackknife(all float64, without []float64) difference {
	return difference{all, interval.Jackknife(0.95, without)}
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
