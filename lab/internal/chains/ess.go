package chains

import "math"

// ESS is the effective sample size of several chains of equal length together, of a value with
// several features, by Geyer's initial monotone sequence of the pooled autocorrelations
//
//	ρ_t = 1 − (W − mean over chains of s²_k ρ_{t,k}) / V
//
// with W the mean variance within chains and V the pooled one (Vehtari and others,
// "Rank-normalization, folding, and localization", 2021, section 3.2). Variances of several
// features are summed, as the trace of their covariance matrix does. A chain that
// does not move holds back no variance of its own: it counts as what it is, one draw.
// NaN for fewer than 4 values a chain; the number of values where all are equal.
// Indices are feature, chain, step.
func ESS(features ...[][]float64) float64 {
	if len(features) == 0 {
		return math.NaN()
	}
	m, n := len(features[0]), len(features[0][0])
	if n < 4 {
		return math.NaN()
	}
	between := 0.0
	centred := make([][][]float64, len(features)) // about the mean of each chain
	for f, chains := range features {
		var b float64
		centred[f], b = centre(chains)
		between += b
	}
	cov := func(lag int) float64 { // mean autocovariance, with 1/n
		sum := 0.0
		for _, chains := range centred {
			for _, c := range chains {
				for t := lag; t < n; t++ {
					sum += c[t] * c[t-lag]
				}
			}
		}
		return sum / float64(n*m)
	}
	within := cov(0) * float64(n) / float64(n-1)
	pooled := cov(0) + between
	if pooled <= 1e-12 {
		return float64(n * m)
	}
	rho := func(lag int) float64 {
		if lag == 0 {
			return 1
		}
		return 1 - (within-cov(lag))/pooled
	}
	sum, low := 0.0, math.Inf(1)
	for t := 0; 2*t+1 < n; t++ {
		pair := rho(2*t) + rho(2*t+1)
		if pair <= 0 {
			break
		}
		low = math.Min(low, pair)
		sum += low
	}
	size := float64(n * m)
	return math.Min(size/math.Max(2*sum-1, 0), size*math.Log10(size))
}

// centre subtracts from chains their means, and returns the variance of these.
func centre(chains [][]float64) (out [][]float64, between float64) {
	m, n := len(chains), len(chains[0])
	means, total := make([]float64, m), 0.0
	for k, c := range chains {
		for _, v := range c {
			means[k] += v / float64(n)
		}
		total += means[k] / float64(m)
	}
	for k, c := range chains {
		between += (means[k] - total) * (means[k] - total)
		d := make([]float64, n)
		for t, v := range c {
			d[t] = v - means[k]
		}
		out = append(out, d)
	}
	if m > 1 {
		between /= float64(m - 1)
	}
	return out, between
}
