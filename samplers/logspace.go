package samplers

import (
	"math"
	"math/rand/v2"
)

var negInf = math.Inf(-1)

// negligible is the log-ratio to the largest weight below which a category is
// left out of a normaliser: exp(−44) ≈ 8e−20, so that even 2^28 such
// categories together change a probability by less than 3e−11.
const negligible = -44

// logSigmoid is log(1/(1+exp(−x))) without overflow.
func logSigmoid(x float64) float64 {
	z := math.Exp(-math.Abs(x))
	l := z * (1 - z*(0.5-z/3)) // log1p(z); the next term is below 2^-54 of it
	if z > 1e-5 {
		l = math.Log1p(z)
	}
	if x < 0 {
		return x - l
	}
	return -l
}

// log1mExp is log(1−exp(−x)) for x > 0 (Mächler 2012).
func log1mExp(x float64) float64 {
	if x <= math.Ln2 {
		return math.Log(-math.Expm1(-x))
	}
	return math.Log1p(-math.Exp(-x))
}

// logAddExp is log(exp(a)+exp(b)).
func logAddExp(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(a, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// maxOf is the largest entry, NaN when any entry is NaN.
func maxOf(lw []float64) float64 {
	m := negInf
	for _, w := range lw {
		if !(w <= m) { // one comparison for what is rare, NaN included
			if w != w {
				return w
			}
			m = w
		}
	}
	return m
}

// logSumExp is log Σ exp(lw); −∞ when all are −∞ and NaN when any is NaN.
func logSumExp(lw []float64) float64 {
	m := maxOf(lw)
	if math.IsInf(m, 0) || m != m {
		return m
	}
	return m + math.Log(sumExp(lw, m))
}

// sumExp is Σ exp(lw − m) of what is not negligible; m is at least the largest.
func sumExp(lw []float64, m float64) (s float64) {
	for _, w := range lw {
		if d := w - m; d > negligible {
			s += expNeg(d)
		}
	}
	return s
}

// drawLog draws v with probability ∝ exp(lw[v]) and returns it with the
// log-normaliser. cum is scratch of at least len(lw). v is −1 when the weights
// make up no distribution (all −∞, any NaN or +∞).
func drawLog(rng *rand.Rand, lw, cum []float64) (v int, lse float64) {
	m := maxOf(lw)
	if math.IsInf(m, 0) || m != m {
		return -1, m
	}
	s := 0.0
	for i, w := range lw {
		if d := w - m; d > negligible {
			s += expNeg(d)
		}
		cum[i] = s
	}
	return searchCum(rng.Float64()*s, cum[:len(lw)]), m + math.Log(s)
}

// searchCum is the first index whose cumulative weight exceeds t; an index of
// weight zero is never returned.
func searchCum(t float64, cum []float64) int {
	lo, hi := 0, len(cum)-1
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if cum[mid] > t {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	// t can only reach the total by rounding; fall back to the last category
	// that has weight.
	for lo > 0 && cum[lo] == cum[lo-1] {
		lo--
	}
	return lo
}

// finite reports whether x is neither NaN nor infinite.
func finite(x float64) bool { return x-x == 0 }

// logProduct accumulates Σ add − log Π mul with few logarithms.
type logProduct struct {
	sum, prod float64
}

// mul divides the result by f, 1 ≤ f ≤ 2.
func (a *logProduct) mul(f float64) {
	if a.prod == 0 {
		a.prod = 1
	}
	a.prod *= f
	if a.prod > 1e290 {
		a.sum -= math.Log(a.prod)
		a.prod = 1
	}
}

// add adds the logarithm l.
func (a *logProduct) add(l float64) { a.sum += l }

func (a *logProduct) result() float64 {
	if a.prod == 0 {
		return a.sum
	}
	return a.sum - math.Log(a.prod)
}

const (
	expBits  = 7
	expSteps = 1 << expBits // steps of an octave in expTable
	expMagic = 3 << 51      // added to a small number, it leaves the nearest integer in the low bits
	expHi    = math.Ln2 / expSteps
)

// expTable[j] is 2^(j/expSteps).
var expTable = func() (t [expSteps]uint64) {
	for j := range t {
		t[j] = math.Float64bits(math.Exp2(float64(j) / expSteps))
	}
	return t
}()

// expNeg is exp(x) for −44 ≤ x ≤ 0 to a relative error below 1e−14 (tested):
// exp(x) = 2^(n/128)·exp(r) with |r| ≤ ln 2/256. It is short enough for the
// compiler to put it into a loop over a row of weights, where math.Exp takes twice
// the time.
func expNeg(x float64) float64 {
	t := x*(1/expHi) + expMagic
	n := math.Float64bits(t)
	r := x - (t-expMagic)*expHi
	p := 1 + r*(1+r*(0.5+r*(1./6+r*(1./24))))
	return math.Float64frombits(expTable[n%expSteps]+n>>expBits<<52) * p
}
