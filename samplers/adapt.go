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

// scales are a scale for each chain, such as a step size, which the burn-in adapts unless it is
// given. It is an Adapter but for Tuning.
type scales struct {
	now  []float64
	tune []scaleTuner              // nil where the scale is given
	read func(*scaleTuner) float64 // the scale of a tuner, or its logarithm
}

func (s *scales) Start(int, []int32, []float64) {}

func (s *scales) Adapt(k int, m Move) {
	if s.tune != nil {
		s.tune[k].update(m.Prob)
		s.now[k] = s.read(&s.tune[k])
	}
}

func (s *scales) Freeze(k int) {
	if s.tune != nil {
		s.tune[k].freeze()
		s.now[k] = s.read(&s.tune[k])
	}
}

// seeker finds a scale whose order of magnitude is not known, before a scaleTuner refines it: the
// logarithm is moved by a stride that grows while the acceptance is on one side of its target, and
// shrinks where the side changes. Where the chain comes to states that need another order of
// magnitude, it begins again. Targets that are sums over 10^5 rows have jump rates whose logarithms
// span thousands, and fall by hundreds on the way from a random state to a likely one, which the
// shrinking steps of stochastic approximation cannot follow.
type seeker struct {
	on     bool
	stride float64 // nats; 0: it has found a scale, which is now being refined
	side   float64 // +1 or −1: where the scale was moved last
	same   int     // updates in a row with no doubt on one side
}

const (
	seekStride = 2   // nats, the first stride
	seekGrow   = 1.5 // of the stride, on the same side again
	seekShrink = 1. / 3
	seekDone   = 0.5  // nats: a stride below which stochastic approximation goes on
	seekSure   = 0.05 // so near to 0 or 1 an acceptance is not noise
	seekAgain  = 6    // such updates in a row begin a search
	seekFar    = 1e6  // bounds of the logarithm, so that it stays a number
)

// newSeeker is a scaleTuner whose start is not known but for where to begin to look.
func newSeeker(logStart, target float64) scaleTuner {
	return scaleTuner{
		log: logStart, target: target, gain: 2, lo: -seekFar, hi: seekFar,
		seek: seeker{on: true, stride: seekStride},
	}
}

// search is update as long as a scale is being sought. It reports whether it was.
func (t *scaleTuner) search(a float64) bool {
	s := &t.seek
	if !s.on {
		return false
	}
	side := 1.0
	if a < t.target {
		side = -1
	}
	if s.stride == 0 {
		if a > seekSure && a < 1-seekSure || side != s.side {
			s.same = 0
		}
		s.side = side
		if s.same++; s.same < seekAgain {
			return false
		}
		s.stride = seekStride
	}
	t.log = math.Min(math.Max(t.log+side*s.stride, t.lo), t.hi)
	if side == s.side || s.side == 0 {
		s.stride *= seekGrow
	} else {
		s.stride *= seekShrink
	}
	s.side = side
	if s.stride < seekDone {
		// What was averaged belongs to the states before.
		s.stride, s.same, t.t, t.sum, t.n, t.half = 0, 0, 0, 0, 0, 0
	}
	return true
}
