package kernels

import "math"

// usualAcceptance is the mean acceptance probability that numbers of changes are adapted to: 0.574,
// the optimum for locally balanced proposals (Sun et al. 2022).
const usualAcceptance = 0.574

// scaleTuner adapts a positive number of one chain to a mean acceptance probability, as package
// samplers does (Robbins–Monro):
//
//	log s ← log s + γ_t·(a_t − a*),   γ_t = 2·(1+t)^−0.6
//
// and sets it to the geometric mean of the second half of its iterates when the burn-in ends.
type scaleTuner struct {
	log    float64
	target float64
	lo, hi float64 // bounds of log
	t      int
	sum    float64
	n      int
	half   int // first iterate that enters the mean
}

func newScaleTuner(start, target, lo, hi float64, burnin int) scaleTuner {
	return scaleTuner{log: math.Log(start), target: target, lo: math.Log(lo), hi: math.Log(hi),
		half: burnin / 2}
}

func (t *scaleTuner) value() float64 { return math.Exp(t.log) }

func (t *scaleTuner) update(a float64) {
	if a != a {
		return
	}
	g := 2 * math.Pow(1+float64(t.t), -0.6)
	t.log = math.Min(math.Max(t.log+g*(a-t.target), t.lo), t.hi)
	t.t++
	if t.t > t.half {
		t.sum += t.log
		t.n++
	}
}

func (t *scaleTuner) freeze() {
	if t.n > 0 {
		t.log = t.sum / float64(t.n)
	}
}
