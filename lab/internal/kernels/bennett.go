package kernels

import "math"

// bennett is the logarithm of Z by Bennett's acceptance ratio, and the variance of that estimate.
// up are log-weights of paths from q to π, down those of paths from π to q, all independent. The
// density of the ways down over that of the ways up is thus exp(w)/Z. The estimate is the maximum
// of the likelihood of Z given which path went which way (Shirts, Bair, Hooker and Pande,
// "Equilibrium free energies from nonequilibrium measurements using maximum-likelihood methods",
// Physical Review Letters 91, 140601, 2003): it solves, for M = log(#down/#up),
//
//	Σ_up σ(w − log Z + M) = Σ_down σ(log Z − w − M)
//
// and the variance is 1/Σ_all σ(1−σ) − 1/#up − 1/#down. It is +∞ where the weights of the two ways
// do not overlap.
func bennett(up, down []float64) (logZ, variance float64) {
	n, m := float64(len(up)), float64(len(down))
	shift := math.Log(m / n)
	// excess falls as c grows.
	excess := func(c float64) float64 {
		sum := 0.0
		for _, w := range up {
			sum += math.Exp(logSigmoid(w - c + shift))
		}
		for _, w := range down {
			sum -= math.Exp(logSigmoid(c - w - shift))
		}
		return sum
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, w := range append(append([]float64(nil), up...), down...) {
		if !math.IsInf(w, 0) {
			low, high = math.Min(low, w), math.Max(high, w)
		}
	}
	if math.IsInf(logSumExp(up), -1) {
		return negInf, math.Inf(1)
	}
	// One path up counts for more than all down at the lower end, and one down at the upper.
	low, high = low+shift-math.Log(2*(n+m))-1, high+shift+math.Log(2*(n+m))+1
	for range 200 {
		c := low + (high-low)/2
		if excess(c) > 0 {
			low = c
		} else {
			high = c
		}
	}
	logZ = low + (high-low)/2
	information := 0.0
	for _, list := range [][]float64{up, down} {
		for _, w := range list {
			x := w - logZ + shift
			information += math.Exp(logSigmoid(x) + logSigmoid(-x))
		}
	}
	return logZ, math.Max(0, 1/information-1/n-1/m)
}
