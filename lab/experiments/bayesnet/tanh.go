package bayesnet

import "math"

// tanhTable has a cubic for each interval of 1/tanhSteps from 0 to tanhEnd, with the values and the
// slopes of the hyperbolic tangent at both ends. Beyond tanhEnd, where it is within 1e-8 of 1, the
// last interval's end holds.
var tanhTable = func() (t [tanhEnd*tanhSteps + 1][4]float64) {
	const h = 1. / tanhSteps
	for i := range t {
		a, b := math.Tanh(float64(i)*h), math.Tanh(float64(i+1)*h)
		da, db := h*(1-a*a), h*(1-b*b)
		t[i] = [4]float64{a, da, 3*(b-a) - 2*da - db, 2*(a-b) + da + db}
	}
	return t
}()

const tanhSteps, tanhEnd = 48, 10

// tanhs replaces numbers by their hyperbolic tangents, within 1e-8, in a third of the time of
// math.Tanh.
func tanhs(x []float64) {
	for r, v := range x {
		a := math.Abs(v) * tanhSteps
		if !(a < tanhEnd*tanhSteps) {
			a = tanhEnd * tanhSteps
		}
		i := int(a)
		a -= float64(i)
		c := &tanhTable[i]
		x[r] = math.Copysign(c[0]+a*(c[1]+a*(c[2]+a*c[3])), v)
	}
}
