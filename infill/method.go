package infill

import (
	"fmt"
	"math"
	"slices"

	"infill/mlm"
	"infill/samplers"
)

// Method says how fillings are found.
type Method int

const (
	// MethodAuto is MethodSample if an option is set that only sampling has: one of
	// SamplingOptions but Temperature, or Collect, Thin or Trace.
	// It is MethodExact with a Temperature, Marginals or Normalize, which ask for probabilities.
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

// A reach is what an effort stands for.
type reach struct {
	beam   int     // partial fillings that a beam keeps
	slack  float64 // nats below its best at which a beam drops one
	starts int     // ends of beams that are scored
	orders int     // of filling blank after blank: from the left, from the right, the surest first
	top    int     // words of a blank that replace the one of a scored filling
	margin float64 // nats below the worst of the best ones at which a guess is given up
	uneven int     // best ones to find at least where guesses are worse, see plan.uneven
}

var reaches = map[Effort]reach{
	EffortQuick: {beam: 5, slack: 2, starts: 5, orders: 2, top: 12, margin: 0,
		uneven: defaultTop},
	EffortNormal: {beam: 10, slack: 3, starts: 12, orders: 2, top: 12, margin: 0.25,
		uneven: 20},
	EffortThorough: {beam: 16, slack: math.Inf(1), starts: 40, orders: 3, top: 40, margin: 3,
		uneven: 20},
}

// ending says why a search or the steps of chains ended.
type ending int

const (
	EndedItself  ending = iota // no guess came near the best fillings any more, or all steps were made
	EndedRows                  // Options.Search.Rows were evaluated
	EndedStopped               // Options.Watch.Stop was closed
)

// String returns a word for the ending.
func (e ending) String() string { return [...]string{"itself", "rows", "stopped"}[e] }

// A Progress is how far a search is.
type Progress struct {
	Rows int // that were evaluated
	// Best are the fillings found up to now, best first, at most Options.Results.Top. They are the
	// receiver's. There are none while a long text is filled in groups, see Result.Groups.
	Best []Filling
}

// sampler describes the sampler, with the zero Info where there is none.
func (o *Options) sampler() samplers.Info {
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
	for _, n := range o.sampler().Needs {
		switch n {
		case samplers.NeedEnergies, samplers.NeedConditionals, samplers.NeedRows:
		default:
			return true
		}
	}
	return len(o.sampler().Needs) == 0 // nothing is known of it
}

// nameOf is the word of a value, and where there is none what it is of, with the number.
func nameOf[I ~int](names []string, what string, i I) string {
	if i < 0 || int(i) >= len(names) {
		return fmt.Sprintf("%s(%d)", what, int(i))
	}
	return names[i]
}
