package diag

import "math"

// ESSMean is the effective sample size of several chains of one length together, for the mean of
// their values. With M half chains of n values and W and var⁺ the within-chain and pooled variance,
//
//	ρ_t = 1 − (W − mean over chains of s²ρ_{t,m}) / var⁺,   ESS = M n / (−1 + 2 Σ_t ρ_t)
//
// summed as ESS does (Vehtari, Gelman, Simpson, Carpenter and Bürkner 2021, section 3.2, without
// the ranks), at most N·log10 N for N values. NaN for fewer than 8 values a chain, or values that
// are not finite. N where all values are equal.
func ESSMean(chains [][]float64) float64 {
	half := math.MaxInt
	for _, c := range chains {
		half = min(half, len(c)/2)
	}
	if len(chains) == 0 || half < 4 {
		return math.NaN()
	}
	// Sums over the half chains: autocovariances, and their means.
	mean, means := make([]float64, half), []float64(nil)
	for _, c := range chains {
		for _, part := range [][]float64{c[:half], c[len(c)-half:]} {
			for t, g := range autocov(part) {
				mean[t] += g
			}
			m, _ := meanVar(part)
			means = append(means, m)
		}
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
