package samplers

import "math"

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
