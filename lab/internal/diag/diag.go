package diag

import (
	"math"
	"math/bits"
)

// autocov returns the autocovariances of x at lags 0..n−1, each divided by n
// (the biased estimate, which makes the sequence positive definite), by FFT.
func autocov(x []float64) []float64 {
	n := len(x)
	if n == 0 {
		return nil
	}
	mean := 0.0
	for _, v := range x {
		mean += v
	}
	mean /= float64(n)
	size := 1 << bits.Len(uint(2*n-1)) // zero padding: no wrap-around
	re, im := make([]float64, size), make([]float64, size)
	for i, v := range x {
		re[i] = v - mean
	}
	fft(re, im)
	for i := range re {
		re[i] = re[i]*re[i] + im[i]*im[i]
		im[i] = 0
	}
	fft(re, im) // the spectrum is even, so forward and inverse agree up to size
	out := re[:n]
	for i := range out {
		out[i] /= float64(size) * float64(n)
	}
	return out
}

// fft is the in-place radix-2 transform (Cooley, Tukey 1965); len(re) is a
// power of two.
func fft(re, im []float64) {
	n := len(re)
	shift := 64 - bits.TrailingZeros(uint(n))
	for i := range n {
		if j := int(bits.Reverse64(uint64(i)) >> shift); n > 1 && j > i {
			re[i], re[j] = re[j], re[i]
			im[i], im[j] = im[j], im[i]
		}
	}
	for half := 1; half < n; half *= 2 {
		for k := range half {
			s, c := math.Sincos(-math.Pi * float64(k) / float64(half))
			for i := k; i < n; i += 2 * half {
				j := i + half
				tr, ti := re[j]*c-im[j]*s, re[j]*s+im[j]*c
				re[j], im[j] = re[i]-tr, im[i]-ti
				re[i], im[i] = re[i]+tr, im[i]+ti
			}
		}
	}
}

// ESS is the effective sample size of one chain's values of a scalar, by
// Geyer's initial monotone sequence (Geyer 1992, section 3.3): with Γ_t the sum
// of the autocovariances at lags 2t and 2t+1,
//
//	σ² = −γ_0 + 2 Σ_t Γ̃_t,   ESS = n γ_0 / σ²
//
// summed while Γ stays positive and with Γ̃ its running minimum, at most n·log10 n (Vehtari et al.
// 2021). NaN for fewer than 4 values; n for a constant.
func ESS(x []float64) float64 {
	return essBy(x, func(g []float64) float64 {
		sum, low, n := 0.0, math.Inf(1), float64(len(x))
		for t := 0; 2*t+1 < len(g); t++ {
			pair := g[2*t] + g[2*t+1]
			if pair <= 0 {
				break
			}
			low = math.Min(low, pair)
			sum += low
		}
		return math.Min(n*g[0]/math.Max(2*sum-g[0], 0), n*math.Log10(n))
	})
}

// ESSFirst is the effective sample size with the autocorrelations summed up to
// the first negative one,
//
//	ESS = n / (−1 + 2 Σ_{t<T} ρ_t),   T the first t with ρ_t < 0
//
// ρ_t by the biased autocovariances: the default of TensorFlow Probability, in which DISCS gives
// its results. NaN for fewer than 4 values; n for a constant.
func ESSFirst(x []float64) float64 {
	return essBy(x, func(g []float64) float64 {
		sum := 0.0
		for _, v := range g {
			if v < 0 {
				break
			}
			sum += v
		}
		return float64(len(x)) * g[0] / (2*sum - g[0])
	})
}

// essBy gives the autocovariances of x to an estimator: NaN for fewer than 4
// values or where there is none, n for a constant.
func essBy(x []float64, estimate func(g []float64) float64) float64 {
	if len(x) < 4 {
		return math.NaN()
	}
	g := autocov(x)
	switch {
	case g[0] > 0:
		return estimate(g)
	case g[0] == 0:
		return float64(len(x))
	}
	return math.NaN()
}

// ESSBatch is the effective sample size by batch means with ⌊√n⌋ values a batch (Flegal, Jones
// 2010), at most n·log10 n. Values before the last whole number of batches are left out. NaN for
// fewer than 9 values.
func ESSBatch(x []float64) float64 {
	b := int(math.Sqrt(float64(len(x))))
	if b < 3 {
		return math.NaN()
	}
	a := len(x) / b
	x = x[len(x)-a*b:]
	means := make([]float64, a)
	for j := range means {
		for _, v := range x[j*b : (j+1)*b] {
			means[j] += v / float64(b)
		}
	}
	n := float64(len(x))
	_, v := meanVar(x)
	_, vb := meanVar(means)
	if v == 0 {
		return n
	}
	return math.Min(n*v/(float64(b)*vb), n*math.Log10(n))
}

// meanVar is the mean and the unbiased variance.
func meanVar(x []float64) (mean, variance float64) {
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	for _, v := range x {
		variance += (v - mean) * (v - mean)
	}
	return mean, variance / float64(len(x)-1)
}
