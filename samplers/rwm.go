package samplers

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// RWM is the random-walk Metropolis sampler on a discrete space: R coordinates,
// chosen uniformly without replacement, move to uniformly chosen other values
// (Metropolis et al. 1953; the baseline of DISCS):
//
//	q(θ→θ') = 1/C(d, R) Π_{i: θ'_i≠θ_i} 1/(K_i − 1)   where R of d coordinates differ
//
// which is symmetric. d and K_i count the coordinates that can change and their allowed values.
type RWM struct {
	Flips            float64 // R, as in PAS
	TargetAcceptance float64 // 0 means 0.234
}

// randomWalkAcceptance is the mean acceptance probability that RWM is adapted to.
const randomWalkAcceptance = 0.234

func (s *RWM) Attach(c *Chains) (Kernel, error) {
	r, err := newCounter(c, rwmInfo.Name, s.Flips, s.TargetAcceptance, randomWalkAcceptance)
	if err != nil {
		return nil, err
	}
	p := &rwmProposer{counter: r, dom: c.Domain, perm: make([][]int32, c.Len())}
	for k := range p.perm {
		p.perm[k] = append([]int32(nil), r.free...)
	}
	return newMH(c, p, mhOptions{})
}

// counter holds the number of coordinates R that a proposal changes, per
// chain, adapted or given. It never falls below 1, so its logarithm never
// becomes negative nor a chain frozen.
type counter struct {
	r    []float64
	tune []scaleTuner
	free []int32 // coordinates with more than one allowed category
	one  float64 // probability of a single change
}

func newCounter(c *Chains, name string, r, target, def float64) (*counter, error) {
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

// singleChange is the probability of a proposal that changes one coordinate.
const singleChange = 1.0 / 16

// draw is ⌊R⌋ or ⌈R⌉ at random with mean R, or 1 with probability singleChange.
// It does not depend on the state, so forward and reverse moves have the same
// number.
func (t *counter) draw(k int, rng *rand.Rand) int {
	if rng.Float64() < t.one {
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

// checkTarget checks a target acceptance rate, 0 for the default.
func checkTarget(name string, a, def float64) (float64, error) {
	if a == 0 {
		return def, nil
	}
	if !(a > 0 && a < 1) {
		return 0, &ParamError{name, "target acceptance", fmt.Sprint(a),
			"a number in (0, 1), or 0 for the default"}
	}
	return a, nil
}

type rwmProposer struct {
	*counter
	dom  *Domain
	perm [][]int32 // a permutation of the free coordinates per chain
}

func (p *rwmProposer) Propose(k int, x []int32, _ []float64, rng *rand.Rand, y []int32) float64 {
	perm := p.perm[k]
	for j := range p.draw(k, rng) {
		o := j + rng.IntN(len(perm)-j) // partial Fisher–Yates
		perm[j], perm[o] = perm[o], perm[j]
		i := int(perm[j])
		y[i] = p.dom.otherValue(rng, i, x[i])
	}
	return 0
}

func (p *rwmProposer) Reverse(int, []int32, []int32, []float64) float64 { return 0 }

// otherValue draws uniformly from the allowed categories other than v.
func (d *Domain) otherValue(rng *rand.Rand, i int, v int32) int32 {
	c := &d.coords[i]
	n := rng.IntN(d.free[i] - 1)
	if c.Allowed == nil {
		if int32(n) >= v {
			n++
		}
		return int32(n)
	}
	for w, ok := range c.Allowed {
		if ok && int32(w) != v {
			if n == 0 {
				return int32(w)
			}
			n--
		}
	}
	return v
}

func (s *RWM) Info() Info { return rwmInfo }

var rwmInfo = Info{
	Name: "rwm", Title: "Random-walk Metropolis",
	Exact: true, Corrected: true,
	Doc:   "changes R random coordinates to random values; the baseline without gradients",
	Needs: []Need{NeedEnergies}, Cost: "1 energy", StepCalls: callsOfEnergies,
	Params: []Param{
		flipsParam(func(s Sampler, v float64) { s.(*RWM).Flips = v }),
		acceptParam(randomWalkAcceptance, func(s Sampler, v float64) { s.(*RWM).TargetAcceptance = v }),
	},
}
