package infill

import (
	"infill/mlm"
	"infill/samplers"
)

// NeedsGradient reports whether filling with these options may ask the model for a backward pass.
// If not, a model that was opened with mlm.Options.Forward gives the same bits. The sampler must be
// one that the options name, or the default. A search never asks for one, whatever guides it.
func (o *Options) NeedsGradient() bool {
	if o.method() == MethodSearch {
		return false
	}
	if len(o.Terms) > 0 {
		return true
	}
	if o.Sampler == nil || o.Gradient == mlm.Forward {
		return false
	}
	for _, n := range samplers.InfoOf(o.Sampler).Needs {
		switch n {
		case samplers.NeedEnergies, samplers.NeedConditionals, samplers.NeedRows:
		default:
			return true
		}
	}
	return len(samplers.InfoOf(o.Sampler).Needs) == 0 // nothing is known of it
}
