package request

import (
	"fmt"
	"slices"

	"infill/mlm"
	"infill/samplers"
)

// Method says how fillings are found.
type Method int

const (
	// MethodAuto is MethodSample if an option is set that only sampling has: one of
	// SamplingOptions but Temperature, or Collect, Thin or Trace.
	// It is MethodExact with a Temperature or Marginals, which ask for probabilities.
	// Otherwise it is MethodSearch.
	MethodAuto Method = iota
	// MethodExact computes all fillings of a single blank, with their probabilities, and samples
	// other templates. See maxExactRows.
	MethodExact
	// MethodSearch looks for the fillings with the best scores. No seed takes part. A single blank is
	// computed as with MethodExact.
	MethodSearch
	// MethodSample runs chains of states for every template.
	MethodSample
)

// Names lists the words for the values of Method, in their order.
func (Method) Names() []string { return slices.Clone(methodNames) }

var methodNames = []string{"auto", "exact", "search", "sample"}

// String returns the word of Names.
func (m Method) String() string { return nameOf(methodNames, "method", m) }

// Effort says how much a search looks at.
type Effort int

const (
	EffortNormal   Effort = iota // as much as most texts need
	EffortQuick                  // about two thirds of that
	EffortThorough               // several times as much
)

// Names lists the words for the values of Effort, in their order.
func (Effort) Names() []string { return slices.Clone(effortNames) }

var effortNames = []string{"normal", "quick", "thorough"}

// String returns the word of Names.
func (e Effort) String() string { return nameOf(effortNames, "effort", e) }

// Ending says why a search or the steps of chains ended.
type Ending int

const (
	EndedItself  Ending = iota // no guess came near the best fillings any more, or all steps were made
	EndedRows                  // Options.Search.Rows were evaluated
	EndedStopped               // Options.Watch.Stop was closed
)

// String returns a word for the ending.
func (e Ending) String() string { return [...]string{"itself", "rows", "stopped"}[e] }

// A Progress is how far a search is.
type Progress struct {
	Rows int // that were evaluated
	// Best are the fillings found up to now, best first, at most Options.Results.Top. They are the
	// receiver's. There are none while a long text is filled in groups, see Result.Groups.
	Best []Filling
}

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

// nameOf is the word of a value, and where there is none what it is of, with the number.
func nameOf[I ~int](names []string, what string, i I) string {
	if i < 0 || int(i) >= len(names) {
		return fmt.Sprintf("%s(%d)", what, int(i))
	}
	return names[i]
}
