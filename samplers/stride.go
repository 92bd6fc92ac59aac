package samplers

import (
	"fmt"
)

// A Stride is the scale of the proposal of ACS (equation 5) and AB,
//
//	q_i(v) ∝ exp(β Δ_i(v) − ‖v − θ_i‖²/(2α))
type Stride struct {
	StepSize float64 // α, in squared units of the domain, above 0
	Beta     float64 // β, above 0 and at most 1; ½ is the balance of DMALA
	// Untested takes every proposal, in the burn-in and after it, so that π is not left invariant.
	Untested bool
}

// strider is a Proposal that has its scale set by the user. s is in range.
type strider interface {
	setStride(s Stride)
}

// SetStride makes all steps of the run, of AB or ACS, from the next one on with s, until the next
// call. It ends what the sampler adapts or schedules by itself. It is for targets that are learned
// (Retarget), as in ACS's algorithm 6. Errors: ErrUnsupported for another sampler, ErrParam for a
// scale out of range.
func (r *Run) SetStride(s Stride) error {
	if err := r.started(); err != nil {
		return err
	}
	var p strider
	if m, ok := r.kernel.(*mhKernel); ok {
		p, _ = m.p.(strider)
	}
	if p == nil {
		return fmt.Errorf("%w: the scale of sampler %s cannot be set between steps; start a run of "+
			"AB or ACS", ErrUnsupported, r.name)
	}
	if err := checkPositive(r.name, "step size", s.StepSize, false); err != nil {
		return err
	}
	if !(s.Beta > 0 && s.Beta <= 1) {
		return &ParamError{r.name, "beta", fmt.Sprint(s.Beta), "a number above 0, at most 1"}
	}
	p.setStride(s)
	return nil
}

// strided is the proposal of AB and ACS. While stride is nil, they choose its scale themselves.
type strided struct {
	*dlp
	*factorised
	stride *Stride
}

// newStrided makes the proposal with α as given, 1 for 0, and β of 0, for the sampler to set.
func newStrided(c *Chains, name string, alpha float64) (*strided, error) {
	if alpha == 0 {
		alpha = 1
	}
	d, err := newDLP(c, name, alpha, Sqrt, nil, 0)
	if err != nil {
		return nil, err
	}
	d.beta = make([]float64, c.Len())
	return &strided{dlp: d, factorised: newFactorised(c.Domain, d, c.Len())}, nil
}

// setStride implements strider. It ends all adaptation.
func (p *strided) setStride(s Stride) {
	p.stride = &s
	for k := range p.alpha {
		p.alpha[k], p.beta[k] = s.StepSize, s.Beta
	}
}

// schedule leaves all steps untested where the stride says so. It reports whether there is one.
func (p *strided) schedule(untested []bool) bool {
	if p.stride == nil {
		return false
	}
	for k := range untested {
		untested[k] = p.stride.Untested
	}
	return true
}
