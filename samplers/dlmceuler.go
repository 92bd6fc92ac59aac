package samplers

import "math"

// eulerLimit bounds an automatic h of the Euler form to this multiple of its start, half
// the inverse of a mean total rate. As h grows that form does not tend to a
// sensible law but to changing every coordinate at every step;
// where even that is accepted (on a target symmetric under it) adaptation would
// go there and leave a chain of two states. Where the rates span too much for a mean, as at a
// low temperature, h is searched for without this bound, since no multiple of the start says
// anything of the rates that follow.
const eulerLimit = 20

// eulerRule is the forward-Euler form of DLMC (Sun et al. 2023, equations 94 and 95):
//
//	P(v ≠ θ_i) = h Q_v,   P(stay) = 1 − h Σ_v Q_v,   Q_v = g(exp(Δ_i(v)))
//
// which is a distribution only while h ≤ 1/ΣQ. Where staying has less than ν_θ, it gets that
// weight, and the whole is normalised again, at θ and at θ' alike. So the sampler is exact for any
// h. (The paper restricts h.)
type eulerRule struct{ *flow }

// logStay is log max(1 − exp(lm), ν_θ), lm the log of h ΣQ.
func logStay(lm, logNu float64) float64 {
	if lm >= 0 {
		return logNu
	}
	return math.Max(log1mExp(-lm), logNu)
}

func (r eulerRule) flips(k, _ int, delta []float64) {
	logH := r.now[k]
	h := math.Exp(logH)
	for j, d := range delta {
		m := math.Abs(d)
		if !(m <= easyDelta && h > 1e-100) { // or NaN
			delta[j] = r.flip(logH, d)
			continue
		}
		u := expNeg(-m / 2)
		w := u * u
		nu := 1 / (1 + w) // of the likelier value
		// To the likelier value; the other way Q is exp(−|Δ|) of it.
		var q float64
		switch r.g {
		case Sqrt:
			q = 1 / u
		case Ratio:
			q = nu
		case Max:
			q = 1 / w
		default:
			q = 1
		}
		if d < 0 {
			q *= w
		} else {
			nu *= w
		}
		q *= h
		delta[j] = math.Log(q / math.Max(1-q, nu)) // nu is ν of the current value
	}
}

// flip is the logit of a flip for any Δ.
func (r eulerRule) flip(h, d float64) float64 {
	lm := h + r.g.Log(d)
	return lm - logStay(lm, logSigmoid(-d))
}

func (r eulerRule) weights(k, _ int, xi int32, _ int, delta []float64) {
	h := r.now[k]
	nu := -logSumExp(delta)
	r.g.logAll(delta)
	delta[xi] = negInf
	lm := h + logSumExp(delta)
	for v := range delta {
		delta[v] += h
	}
	delta[xi] = logStay(lm, nu)
}
