package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"

	"infill/samplers"
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

// freeOf are the coordinates that can change. Without any the error is an ErrDomain.
func freeOf(d *samplers.Domain) (free []int32, err error) {
	for i := range d.Len() {
		if d.Support(i) > 1 {
			free = append(free, int32(i))
		}
	}
	if free == nil {
		return nil, fmt.Errorf("%w: no coordinate has more than one allowed category, so that there "+
			"is nothing to sample", samplers.ErrDomain)
	}
	return free, nil
}

// newCounter makes proposals of a single change rare, or leaves them out where noSingles says so.
func newCounter(
	c *samplers.Chains, name string, r, target, def float64, noSingles bool,
) (*counter, error) {
	if r != 0 && !(r >= 1 && !math.IsInf(r, 1)) {
		return nil, &samplers.ParamError{Sampler: name, Param: "flips", Value: fmt.Sprint(r),
			Want: "a number from 1, or 0 for automatic"}
	}
	target, err := checkTarget(name, target, def)
	if err != nil {
		return nil, err
	}
	t := &counter{r: make([]float64, c.Len()), one: singleChange}
	if noSingles {
		t.one = 0
	}
	if t.free, err = freeOf(c.Domain); err != nil {
		return nil, err
	}
	most := float64(len(t.free))
	if r == 0 {
		t.tune = make([]scaleTuner, c.Len())
	}
	for k := range t.r {
		t.r[k] = math.Min(math.Max(1, r), most)
		if t.tune != nil {
			t.tune[k] = newScaleTuner(1, target, 1, most, c.Burnin)
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

func (t *counter) Adapt(k int, m samplers.Move) {
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
