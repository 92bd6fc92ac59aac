// Package adam is the optimiser Adam, for what experiments and baselines learn.
package adam

import "math"

// An Optimiser climbs a stochastic gradient (Kingma and Ba, ICLR 2015, algorithm 1, with the sign
// of an ascent). Its averages decay by .9 and .999, and ε is 1e-8.
type Optimiser struct {
	Rate float64 // the step size α, above 0
	m, v []float64
	t    int
}

// Ascend moves params, in place, by one step along grad. The length of both is the same in
// every call.
func (a *Optimiser) Ascend(params, grad []float64) {
	const b1, b2, eps = 0.9, 0.999, 1e-8
	if a.m == nil {
		a.m, a.v = make([]float64, len(params)), make([]float64, len(params))
	}
	a.t++
	c1, c2 := 1-math.Pow(b1, float64(a.t)), 1-math.Pow(b2, float64(a.t))
	for i, g := range grad {
		a.m[i] = b1*a.m[i] + (1-b1)*g
		a.v[i] = b2*a.v[i] + (1-b2)*g*g
		params[i] += a.Rate * (a.m[i] / c1) / (math.Sqrt(a.v[i]/c2) + eps)
	}
}
