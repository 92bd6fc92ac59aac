package samplers

import "math"

// usualAcceptance is the mean acceptance probability (Stats.MeanProb) that step sizes are
// adapted to: 0.574, the optimum for locally balanced proposals (Sun et al. 2022).
const usualAcceptance = 0.574

// scaleTuner adapts one positive scale (a step size, a simulation time) of one
// chain to a mean acceptance probability by stochastic approximation (Robbins–Monro):
//
//	log s ← log s + γ_t·min(1, s/s₁)·(a_t − a*),   γ_t = gain·(1+t)^−0.6
//
// a_t is the step's acceptance probability (1 for an unmoved proposal, so a
// scale that is too small always grows). s₁ is the scale at which the penalty
// of a smallest move is one nat; below it the number of proposed changes goes
// like exp(−s₁/s), so the step is damped to make the change of the penalty,
// and not of its logarithm, the bounded quantity. When the burn-in ends the
// scale is set to the geometric mean of the second half of its iterates
// (Polyak, Juditsky 1992) and never changes again.
type scaleTuner struct {
	log      float64 // log of the current scale
	unit     float64 // s₁; 0 switches the damping off
	target   float64
	gain     float64
	lo, hi   float64 // bounds of log
	t        int
	sum      float64
	n        int
	half     int // first iterate that enters the mean
	disabled bool
	farther  bool // at its lower bound it becomes a seeker
	seek     seeker
}

func newScaleTuner(start, unit, target, lo, hi float64, burnin int) scaleTuner {
	return scaleTuner{
		log: math.Log(start), unit: unit, target: target, gain: 2,
		lo: math.Log(lo), hi: math.Log(hi), half: burnin / 2,
	}
}

func (t *scaleTuner) value() float64 { return math.Exp(t.log) }

func (t *scaleTuner) update(a float64) {
	if t.disabled || a != a || t.search(a) {
		return
	}
	g := t.gain * math.Pow(1+float64(t.t), -0.6)
	if t.unit > 0 {
		g *= math.Min(1, math.Exp(t.log)/t.unit)
	}
	t.log = math.Min(math.Max(t.log+g*(a-t.target), t.lo), t.hi)
	if t.log == t.lo && t.farther {
		hi := t.hi
		*t = newSeeker(t.log, t.target)
		t.hi = hi
		return
	}
	t.t++
	if t.t > t.half {
		t.sum += t.log
		t.n++
	}
}

// shift moves the scale by what its caller knows of the target: d is added to its logarithm.
func (t *scaleTuner) shift(d float64) {
	if !t.disabled {
		t.log = math.Min(math.Max(t.log+d, t.lo), t.hi)
	}
}

func (t *scaleTuner) freeze() {
	if !t.disabled && t.n > 0 {
		t.log = t.sum / float64(t.n)
	}
	t.disabled = true
}
