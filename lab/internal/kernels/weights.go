package kernels

import (
	"math"
	"math/rand/v2"
	"sort"

	"infill/lab/internal/stable"
)

var negInf = math.Inf(-1)

// negligible is the log-ratio to the largest weight below which a category is left out.
const negligible = -44

// finite reports whether x is neither NaN nor infinite.
func finite(x float64) bool { return x-x == 0 }

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
		if w != w {
			return w
		}
		m = math.Max(m, w)
	}
	return m
}

// logSumExp is log Σ exp(lw); −∞ when all are −∞ and NaN when any is NaN.
func logSumExp(lw []float64) float64 {
	m := maxOf(lw)
	if !finite(m) {
		return m
	}
	s := 0.0
	for _, w := range lw {
		if d := w - m; d > negligible {
			s += expNeg(d)
		}
	}
	return m + math.Log(s)
}

// drawLog draws v with probability ∝ exp(lw[v]) and returns it with the log-normaliser. cum is
// scratch of at least len(lw). v is −1 when the weights make up no distribution.
func drawLog(rng *rand.Rand, lw, cum []float64) (v int, lse float64) {
	m := maxOf(lw)
	if !finite(m) {
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

// searchCum is the first index whose cumulative weight exceeds t. An index of weight zero is never
// returned.
func searchCum(t float64, cum []float64) int {
	v := sort.Search(len(cum)-1, func(i int) bool { return cum[i] > t })
	for v > 0 && cum[v] == cum[v-1] { // t reached the total by rounding
		v--
	}
	return v
}

// logSigmoid is log(1/(1+exp(−x))) without overflow.
func logSigmoid(x float64) float64 { return -stable.Softplus(-x) }

// expTable[j] is 2^(j/128).
var expTable = func() (t [128]uint64) {
	for j := range t {
		t[j] = math.Float64bits(math.Exp2(float64(j) / 128))
	}
	return t
}()

// expNeg is exp(x) for −44 ≤ x ≤ 0, digit for digit as package samplers has it, so that what was
// recorded before these kernels left that package can be made again.
func expNeg(x float64) float64 {
	const step, magic = math.Ln2 / 128, 3 << 51
	t := x*(1/step) + magic
	n := math.Float64bits(t)
	r := x - (t-magic)*step
	p := 1 + r*(1+r*(0.5+r*(1./6+r*(1./24))))
	return math.Float64frombits(expTable[n%128]+n>>7<<52) * p
}

// matrix is n rows of m numbers.
func matrix[T any](n, m int) [][]T {
	out := make([][]T, n)
	for i := range out {
		out[i] = make([]T, m)
	}
	return out
}

// hamming is the number of coordinates in which x and y differ.
func hamming(x, y []int32) (n int) {
	for i, v := range x {
		if y[i] != v {
			n++
		}
	}
	return n
}
