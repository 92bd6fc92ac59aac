package samplers

import (
	"fmt"
	"math"
)

// dlp is the discrete Langevin proposal (DLP, equation 2 and, for categories,
// appendix B) with a general
// balancing function g and, per coordinate, an optional preconditioner:
//
//	log w_i(v) = log g(e^{Δ_i(v)}) − ‖v − θ_i‖²/(2 α s_i)
//
// where ‖v − θ_i‖² is 2 for a change of a nominal coordinate (so the penalty
// is 1/α) and the squared difference of values otherwise.
type dlp struct {
	scales // α
	dom    *Domain
	g      Balance
	beta   []float64 // per chain: log g(e^Δ) is βΔ (ACS); nil to use g
	s      []float64 // preconditioner; nil for 1
}

// stepBounds limits automatic step sizes: from below as a multiple of the scale at which the
// penalty of the smallest move is one nat, from above of that or of the start. The start is larger
// where one coordinate is finer than the others, or where an ordinal one has many values.
const (
	stepLow  = 1e-3
	stepHigh = 1e3
)

func newDLP(c *Chains, name string, step float64, g Balance, s []float64, target float64) (*dlp,
	error) {
	if s != nil && len(s) != c.Domain.Len() {
		return nil, &ParamError{name, "precondition", fmt.Sprintf("a list of %d", len(s)),
			fmt.Sprintf("one number for each of the %d coordinates", c.Domain.Len())}
	}
	for _, v := range s {
		if err := checkPositive(name, "precondition", v); err != nil {
			return nil, err
		}
	}
	d := &dlp{dom: c.Domain, g: g, s: s,
		scales: scales{now: make([]float64, c.Len()), read: (*scaleTuner).value}}
	start := step
	if step == 0 {
		start = startStep(c.Domain)
		d.tune = make([]scaleTuner, c.Len())
	}
	unit := c.Domain.minD2 / 2
	for k := range d.now {
		d.now[k] = start
		if d.tune != nil {
			d.tune[k] = newScaleTuner(start, unit, target, unit*stepLow, max(unit, start)*stepHigh,
				c.Burnin)
		}
	}
	return d, nil
}

// startStep is where automatic step sizes start. Among K categories of nearly
// equal weight a nominal coordinate stays put half the time when 1/α = ln K,
// so 1/α starts at the mean of ln K (at least 1); an ordinal coordinate starts
// with moves of a tenth of its range.
func startStep(d *Domain) float64 {
	sum := 0.0
	for i := range d.coords {
		c := &d.coords[i]
		switch c.Kind {
		case Nominal:
			sum += math.Log(1 / math.Max(1, math.Log(float64(d.free[i]))))
		case Binary:
			sum += math.Log(c.dist2(1) / 2)
		default:
			sum += math.Log(c.dist2(math.Max(1, float64(c.K)/10)) / 2)
		}
	}
	return math.Exp(sum / float64(len(d.coords)))
}

// logG replaces Δ by log g(e^Δ) and returns log g(1).
func (d *dlp) logG(k int, delta []float64) float64 {
	if d.beta == nil {
		d.g.logAll(delta)
		return d.g.Log(0)
	}
	for i := range delta {
		delta[i] *= d.beta[k]
	}
	return 0
}

func (d *dlp) penalty(k, i int) float64 {
	a := 2 * d.now[k]
	if d.s != nil {
		a *= d.s[i]
	}
	return 1 / a
}

func (d *dlp) flips(k, lo int, delta []float64) {
	zero := d.logG(k, delta)
	p := d.penalty(k, 0)
	for j := range delta {
		if d.s != nil {
			p = d.penalty(k, lo+j)
		}
		delta[j] -= zero + p*d.dom.coords[lo+j].dist2(1)
	}
}

func (d *dlp) weights(k, i int, xi int32, lo int, delta []float64) {
	d.logG(k, delta)
	c := &d.dom.coords[i]
	p := d.penalty(k, i)
	if c.Kind == Nominal {
		// One constant on all but the current category; adding it to that one
		// instead gives the same distribution with one addition.
		if v := int(xi) - lo; v >= 0 && v < len(delta) {
			delta[v] += 2 * p
		}
		return
	}
	p *= c.Step * c.Step
	for v := range delta {
		s := float64(int32(lo+v) - xi)
		delta[v] -= s * s * p
	}
}

func (d *dlp) local() bool { return true }

func (d *dlp) linear(k, i int) (slope, stay float64, ok bool) {
	switch {
	case d.beta != nil:
		slope = d.beta[k]
	case d.g == Sqrt:
		slope = 0.5
	}
	return slope, 2 * d.penalty(k, i), slope > 0
}

func (d *dlp) scale(k int) [2]float64 {
	if d.beta != nil {
		return [2]float64{d.now[k], d.beta[k]}
	}
	return [2]float64{d.now[k]}
}

// Tuning implements Adapter.
func (d *dlp) Tuning(k int) map[string]float64 {
	return map[string]float64{"step-size": d.now[k]}
}

// dlpProposer joins the rule to the factorised draw.
type dlpProposer struct {
	*factorised
	*dlp
	follow *follower // nil where the step size is given, or not all coordinates are nominal
}

func newDLPKernel(c *Chains, d *dlp, o MHOptions) (Kernel, error) {
	o.Gradient = true
	return newMH(c, dlpProposer{newFactorised(c.Domain, d, c.Len()), d, newFollower(d)},
		mhOptions{MHOptions: o})
}

// follower lets automatic step sizes follow the states of the burn-in. Where a chain begins, a
// nominal coordinate has many better categories; where it ends up, on a target of few likely
// states, hardly any. A step size that is right at the one is far from right at the other, and a
// short burn-in ends before stochastic approximation has come from here to there.
//
// A coordinate stays put half the time when 1/(α·s_i) is the openness of the state,
//
//	L_i(x) = log Σ_{v≠x_i} g(e^{Δ_i(v)})/g(1)
//
// which the proposal knows without an evaluation: ln K where K categories are equally likely (what
// startStep assumes), less where few are. All n coordinates together stay put half the time when
// 1/α is larger by about log 1/(2^{1/n} − 1). So α is c/H: H is a moving mean over states of what
// openness returns, and c is what the mean acceptance probability adapts. The mean forgets as the
// adaptation does, (1+t)^−0.6, so that in a long burn-in H settles.
type follower struct {
	mean []float64 // H of each chain
	t    []int
}

func newFollower(d *dlp) *follower {
	if d.tune == nil {
		return nil
	}
	for i := range d.dom.coords {
		if d.dom.coords[i].Kind != Nominal {
			return nil
		}
	}
	f := &follower{mean: make([]float64, len(d.now)), t: make([]int, len(d.now))}
	for k := range f.mean {
		f.mean[k] = 1 / d.now[k]
	}
	return f
}

// enter takes the openness of chain k's state and returns by what log α changes.
func (f *follower) enter(k int, open float64) float64 {
	if math.IsNaN(open) {
		return 0
	}
	old := f.mean[k]
	f.mean[k] += math.Pow(1+float64(f.t[k]), -0.6) * (open - old)
	f.t[k]++
	return math.Log(old / f.mean[k])
}

// mostTogether bounds what openness adds for the number of coordinates: where there are many, more
// than one of them is to change in a step.
const mostTogether = 2

// openness is the 1/α at which chain k's proposal is its state half the time, roughly: the mean of
// s_i·L_i, each at least 1, and what the number of coordinates adds, at most mostTogether. It is
// NaN where the weights at the state are not known.
func (p dlpProposer) openness(k int) float64 {
	c := &p.cur[k]
	if !c.ok || c.scale != p.scale(k) {
		return math.NaN()
	}
	zero := 0.0
	if p.beta == nil {
		zero = p.g.Log(0)
	}
	sum, n := 0.0, 0
	for i := range p.dlp.dom.coords {
		if p.dlp.dom.free[i] == 1 {
			continue
		}
		stay := zero + 2*p.penalty(k, i)
		// All weights are e^lse, that of the present category is e^stay.
		open := stay + math.Log(math.Expm1(c.lse[i]-stay)) - zero
		if p.s != nil {
			open *= p.s[i]
		}
		if math.IsNaN(open) || math.IsInf(open, 1) {
			return math.NaN()
		}
		sum, n = sum+math.Max(1, open), n+1
	}
	return sum/float64(n) + math.Min(mostTogether, -math.Log(math.Exp2(1/float64(n))-1))
}

// Start implements Adapter.
func (p dlpProposer) Start(k int, x []int32, grad []float64) {
	if p.follow == nil || p.tune[k].half == 0 {
		return // nothing is adapted, or there is no burn-in to do it in
	}
	p.fill(&p.cur[k], k, x, grad, x)
	p.shift(k)
}

// Adapt implements Adapter.
func (p dlpProposer) Adapt(k int, m Move) {
	if p.follow != nil {
		p.shift(k)
	}
	p.dlp.Adapt(k, m)
}

// shift has the step size of chain k follow its state.
func (p dlpProposer) shift(k int) {
	p.tune[k].shift(p.follow.enter(k, p.openness(k)))
	p.now[k] = p.tune[k].value()
}
