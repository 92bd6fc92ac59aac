package diag

import "math"

// SplitRHat is the potential scale reduction factor of several chains of the same length, each
// split in halves (Gelman et al. 2013, section 11.4). Below 1.01 the chains agree with each other.
// NaN for fewer than 4 values a chain; 1 when all values are equal, +Inf when only the chains
// differ.
func SplitRHat(chains [][]float64) float64 { return newHalves(chains).rhat(-1) }

// halves are means and variances of both halves of every chain.
type halves struct {
	n           int // values of a half
	means, vars []float64
}

func newHalves(chains [][]float64) *halves {
	h := &halves{n: math.MaxInt}
	for _, c := range chains {
		h.n = min(h.n, len(c)/2)
	}
	if h.n < 2 {
		return h
	}
	for _, c := range chains {
		for _, part := range [][]float64{c[:h.n], c[len(c)-h.n:]} {
			m, v := meanVar(part)
			h.means, h.vars = append(h.means, m), append(h.vars, v)
		}
	}
	return h
}

// rhat is SplitRHat of all chains but one, or of all for −1.
func (h *halves) rhat(without int) float64 {
	means, vars := besides(h.means, without, 2), besides(h.vars, without, 2)
	if len(means) == 0 {
		return math.NaN()
	}
	n := float64(h.n)
	within, _ := meanVar(vars)
	_, between := meanVar(means)
	if within == 0 {
		if between == 0 {
			return 1
		}
		return math.Inf(1)
	}
	return math.Sqrt((n-1)/n + between/within)
}

// besides is x without the k-th of its groups of a size, or x for −1.
func besides(x []float64, k, size int) []float64 {
	if k < 0 || len(x) == 0 {
		return x
	}
	return append(append([]float64(nil), x[:k*size]...), x[(k+1)*size:]...)
}

// essChains is the sum of the chains' effective sample sizes, each by ESS and
// divided by the square of SplitRHat where that exceeds 1, so that chains that
// disagree do not count as independent evidence.
func essChains(chains [][]float64) float64 {
	return newHalves(chains).ess(eachESS(chains), -1)
}

// essChainsError is the standard error of essChains, with the chains as independent samples, by
// Jackknife. The number of independent draws grows with the number of chains: what n−1 chains say
// is taken times n/(n−1). NaN for fewer than two chains.
func essChainsError(chains [][]float64) float64 {
	h, each, n := newHalves(chains), eachESS(chains), len(chains)
	return Jackknife(n, func(k int) float64 { return h.ess(each, k) * float64(n) / float64(n-1) })
}

func eachESS(chains [][]float64) []float64 {
	each := make([]float64, len(chains))
	for k, c := range chains {
		each[k] = ESS(c)
	}
	return each
}

// ess is essChains of all chains but one, or of all for −1, given the ESS of each.
func (h *halves) ess(each []float64, without int) float64 {
	sum := 0.0
	for _, v := range besides(each, without, 1) {
		sum += v
	}
	if r := h.rhat(without); r > 1 {
		sum /= r * r
	}
	return sum
}

// Jackknife is the standard error of a figure of n independent parts, such as chains (Efron and
// Stein 1981),
//
//	√((n−1)/n Σ_k (f_k − f̄)²)
//
// where f_k = without(k) is the figure of all parts but part k, from 0. NaN for n below 2.
func Jackknife(n int, without func(k int) float64) float64 {
	if n < 2 {
		return math.NaN()
	}
	v := make([]float64, n)
	for k := range v {
		v[k] = without(k)
	}
	_, variance := meanVar(v)
	return float64(n-1) * math.Sqrt(variance/float64(n))
}
