package samplers

import "math"

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
