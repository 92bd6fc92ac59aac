package chains

import (
	"math"
	"math/bits"
)

// essMean is the effective sample size of several chains of one length together, for the mean of
// their values. With M half chains of n values and W and var⁺ the within-chain and pooled variance,
//
//	ρ_t = 1 − (W − mean over chains of s²ρ_{t,m}) / var⁺,   ESS = M n / (−1 + 2 Σ_t ρ_t)
//
// summed while pairs of ρ_t stay positive and with their running minimum (Vehtari, Gelman, Simpson,
// Carpenter and Bürkner 2021, section 3.2, without the ranks), at most N·log10 N for N values. NaN
// for fewer than 8 values a chain, or values that are not finite. N where all values are equal.
func essMean(chains [][]float64) float64 {
	half, parts := halves(chains)
	if half < 4 {
		return math.NaN()
	}
	// Sums over the half chains: autocovariances, and their means.
	mean, means := make([]float64, half), []float64(nil)
	for _, part := range parts {
		for t, g := range autocov(part) {
			mean[t] += g
		}
		m, _ := meanVar(part)
		means = append(means, m)
	}
	n, m := float64(half), float64(len(means))
	for t := range mean {
		mean[t] /= m
	}
	_, between := meanVar(means)
	within := mean[0] * n / (n - 1)
	pooled := mean[0] + between
	switch {
	case pooled == 0:
		return m * n
	case math.IsNaN(pooled) || math.IsInf(pooled, 0):
		return math.NaN()
	}
	rho := func(t int) float64 {
		if t == 0 {
			return 1
		}
		return 1 - (within-mean[t])/pooled
	}
	sum, low, last := 0.0, math.Inf(1), 0.0
	for t := 0; t+1 < half; t += 2 {
		pair := rho(t) + rho(t+1)
		if pair < 0 {
			last = math.Max(0, rho(t))
			break
		}
		low = math.Min(low, pair)
		sum += low
	}
	tau := math.Max(2*sum-1+last, 1/math.Log10(m*n))
	return m * n / tau
}

// splitRHat is the potential scale reduction factor of several chains of the same length, each
// split in halves (Gelman et al. 2013, section 11.4). Below 1.01 the chains agree with each other.
// NaN for fewer than 4 values a chain; 1 when all values are equal, +Inf when only the chains
// differ.
func splitRHat(chains [][]float64) float64 {
	half, parts := halves(chains)
	if half < 2 {
		return math.NaN()
	}
	var means, vars []float64
	for _, part := range parts {
		m, v := meanVar(part)
		means, vars = append(means, m), append(vars, v)
	}
	within, _ := meanVar(vars)
	_, between := meanVar(means)
	switch {
	case within == 0 && between == 0:
		return 1
	case within == 0:
		return math.Inf(1)
	}
	n := float64(half)
	return math.Sqrt((n-1)/n + between/within)
}

// halves are the two halves of each chain, all of one length: half of the shortest chain. Without a
// chain it is 0.
func halves(chains [][]float64) (half int, parts [][]float64) {
	for i, c := range chains {
		if n := len(c) / 2; i == 0 || n < half {
			half = n
		}
	}
	for _, c := range chains {
		parts = append(parts, c[:half], c[len(c)-half:])
	}
	return half, parts
}

// autocov returns the autocovariances of x at lags 0..n−1, each divided by n
// (the biased estimate, which makes the sequence positive definite), by FFT.
func autocov(x []float64) []float64 {
	n := len(x)
	if n == 0 {
		return nil
	}
	mean, _ := meanVar(x)
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
