package samplers

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// counter holds the number of coordinates R that a proposal changes, per
// chain, adapted or given. It never falls below 1, so its logarithm never
// becomes negative nor a chain frozen.
type counter struct {
	r    []float64
	tune []scaleTuner
	free []int32 // coordinates with more than one allowed category
	one  float64 // probability of a proposal of a single change
}

// newCounter makes proposals of a single change rare, or leaves them out where noSingles says so.
func newCounter(
	c *Chains, name string, r, target, def float64, noSingles bool,
) (*counter, error) {
	if err := checkPositive(name, "flips", r, true); err != nil {
		return nil, err
	}
	if r > 0 && r < 1 {
		return nil, &ParamError{name, "flips", fmt.Sprint(r), "a number from 1, or 0 for automatic"}
	}
	target, err := checkTarget(name, target, def)
	if err != nil {
		return nil, err
	}
	t := &counter{r: make([]float64, c.Len()), one: singleChange}
	if noSingles {
		t.one = 0
	}
	for i := range c.Domain.Len() {
		if c.Domain.free[i] > 1 {
			t.free = append(t.free, int32(i))
		}
	}
	if len(t.free) == 0 {
		return nil, fmt.Errorf("%w: no coordinate has more than one allowed category, so that there "+
			"is nothing to sample; allow another category of some coordinate, or take the only "+
			"state as the answer", ErrDomain)
	}
	most := float64(len(t.free))
	if r == 0 {
		t.tune = make([]scaleTuner, c.Len())
	}
	for k := range t.r {
		t.r[k] = math.Min(math.Max(1, r), most)
		if t.tune != nil {
			t.tune[k] = newScaleTuner(1, 0, target, 1, most, c.Burnin)
		}
	}
	return t, nil
}

// draw is ⌊R⌋ or ⌈R⌉ at random with mean R, or 1 with probability t.one.
// It does not depend on the state, so forward and reverse moves have the same
// number.
func (t *counter) draw(k int, rng *rand.Rand) int {
	if t.one > 0 && rng.Float64() < t.one {
		return 1
	}
	fl := math.Floor(t.r[k])
	n := int(fl)
	if f := t.r[k] - fl; f > 0 && rng.Float64() < f {
		n++
	}
	return min(n, len(t.free)) // exp(log R) can be above R by rounding
}

// Start implements Adapter.
func (t *counter) Start(int, []int32, []float64) {}

func (t *counter) Adapt(k int, m Move) {
	if t.tune != nil {
		t.tune[k].update(m.Prob)
		t.r[k] = t.tune[k].value()
	}
}

func (t *counter) Freeze(k int) {
	if t.tune != nil {
		t.tune[k].freeze()
		t.r[k] = t.tune[k].value()
	}
}

// Tuning implements Adapter.
func (t *counter) Tuning(k int) map[string]float64 { return map[string]float64{"flips": t.r[k]} }

// singleChange is the probability of a proposal that changes one coordinate, whatever R is.
const singleChange = 1.0 / 16
