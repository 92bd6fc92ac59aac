package request

import (
	"cmp"

	"infill/mlm"
	"infill/samplers"
)

// Defaults of Options. Chains, Top and PublishedSteps follow DLP, section 7.5, which has 25
// sentences and does not say from how many chains.
const (
	// DefaultSteps of Rows get at least as far as PublishedSteps of DMALA, see
	// lab/notebook/performance.md.
	DefaultSteps = 20
	// PublishedSteps is the default where Marginals asks for probabilities.
	PublishedSteps = 50
	DefaultChains  = 25
	DefaultTop     = 5
	// defaultTemperature leaves U as the model has it.
	defaultTemperature = 1
	defaultRows        = 10_000
	defaultContext     = 128
)

// Complete returns the options as Engine.Fill runs them: Method is a definite one in place of
// MethodAuto, and defaults stand in place of the zero values of Rows, Context, Sampler, Steps,
// Chains, Top and Temperature. Then 0 Steps are none. Ranges are not checked.
func (o Options) Complete() Options {
	o.Method = o.method()
	o.Search.Rows = cmp.Or(o.Search.Rows, defaultRows)
	o.Search.Context = cmp.Or(o.Search.Context, defaultContext)
	if o.Sampling.Sampler == nil {
		o.Sampling.Sampler = &samplers.Rows{}
	}
	steps := DefaultSteps
	if o.Results.Marginals {
		o.Results.Score, steps = ScorePLL, PublishedSteps
	}
	if !o.Sampling.NoSteps {
		o.Sampling.Steps = cmp.Or(o.Sampling.Steps, steps)
	}
	o.Sampling.Chains = cmp.Or(o.Sampling.Chains, DefaultChains)
	o.Sampling.Temperature = cmp.Or(o.Sampling.Temperature, defaultTemperature)
	if !o.Results.All {
		o.Results.Top = cmp.Or(o.Results.Top, DefaultTop)
	}
	return o
}

// method is the method that MethodAuto stands for, or Method.
func (o *Options) method() Method {
	s := &o.Sampling
	return o.Method.Resolve(s.Sampler != nil || s.Steps != 0 || s.NoSteps ||
		s.Budget != BudgetSteps || s.Chains != 0 || s.Start != StartMasked ||
		s.Starts != nil || s.Gradient != mlm.Full || s.Shortlist != 0 ||
		o.Results.Collect != CollectVisited || o.Results.Thin != 0 || o.Watch.Trace != nil, o)
}

// Resolve is the method that fills with the options, which say whether somebody asks for
// probabilities. chosen says whether a setting was chosen that only sampling has.
func (m Method) Resolve(chosen bool, o *Options) Method {
	switch {
	case m != MethodAuto:
		return m
	case chosen:
		return MethodSample
	case o.probabilities():
		return MethodExact
	}
	return MethodSearch
}

// probabilities reports whether the options ask for numbers that only draws of π and exact sums
// give.
func (o *Options) probabilities() bool {
	t := o.Sampling.Temperature
	return t != 0 && t != defaultTemperature || o.Results.Marginals
}

// Thinning is the number of steps from one state that CollectChain takes to the next, where
// Complete has filled in Steps.
func (o *Options) Thinning() int {
	if o.Results.Thin > 0 {
		return o.Results.Thin
	}
	return max(1, (o.Sampling.Steps-o.Burnin())/keptOfChain)
}

// Burnin is the number of first steps in which the sampler adapts: half of Steps, which Complete
// has filled in. Their states are not draws of π.
func (o *Options) Burnin() int { return o.Sampling.Steps / 2 }

// SamplerInfo describes the sampler, with the zero Info where there is none.
func (o *Options) SamplerInfo() samplers.Info {
	if o.Sampling.Sampler == nil {
		return samplers.Info{}
	}
	return o.Sampling.Sampler.Info()
}

// NeedsGradient reports whether filling with these options may ask the model for a backward pass.
// If not, a model that was opened with mlm.Options.Forward gives the same bits. The sampler must be
// one that the options name, or the default. A search never asks for one, whatever guides it.
func (o *Options) NeedsGradient() bool {
	if o.method() == MethodSearch {
		return false
	}
	if len(o.Words.Terms) > 0 {
		return true
	}
	if o.Sampling.Sampler == nil || o.Sampling.Gradient == mlm.Forward {
		return false
	}
	for _, n := range o.SamplerInfo().Needs {
		switch n {
		case samplers.NeedEnergies, samplers.NeedConditionals, samplers.NeedRows:
		default:
			return true
		}
	}
	return len(o.SamplerInfo().Needs) == 0 // nothing is known of it
}
