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
	dom   *Domain
	g     Balance
	beta  []float64 // per chain: log g(e^Δ) is βΔ (ACS); nil to use g
	s     []float64 // preconditioner; nil for 1
	alpha []float64 // per chain
	tune  []scaleTuner
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
	if err := g.check(name); err != nil {
		return nil, err
	}
	if err := checkPositive(name, "step size", step, true); err != nil {
		return nil, err
	}
	target, err := checkTarget(name, target, usualAcceptance)
	if err != nil {
		return nil, err
	}
	if s != nil && len(s) != c.Domain.Len() {
		return nil, &ParamError{name, "precondition", fmt.Sprintf("a list of %d", len(s)),
			fmt.Sprintf("one number for each of the %d coordinates", c.Domain.Len())}
	}
	for _, v := range s {
		if err := checkPositive(name, "precondition", v, false); err != nil {
			return nil, err
		}
	}
	d := &dlp{dom: c.Domain, g: g, s: s, alpha: make([]float64, c.Len())}
	start := step
	if step == 0 {
		start = startStep(c.Domain)
		d.tune = make([]scaleTuner, c.Len())
	}
	unit := c.Domain.minD2 / 2
	for k := range d.alpha {
		d.alpha[k] = start
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
	a := 2 * d.alpha[k]
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
		return [2]float64{d.alpha[k], d.beta[k]}
	}
	return [2]float64{d.alpha[k]}
}

// Start implements Adapter.
func (d *dlp) Start(int, []int32, []float64) {}

func (d *dlp) Adapt(k int, m Move) {
	if d.tune != nil {
		d.tune[k].update(m.Prob)
		d.alpha[k] = d.tune[k].value()
	}
}

func (d *dlp) Freeze(k int) {
	if d.tune != nil {
		d.tune[k].freeze()
		d.alpha[k] = d.tune[k].value()
	}
}

// Tuning implements Adapter.
func (d *dlp) Tuning(k int) map[string]float64 {
	return map[string]float64{"step-size": d.alpha[k]}
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
