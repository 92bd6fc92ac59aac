package infill

import (
	"fmt"

	"infill/infill/text"
)

// Bounds of Options, so that a slip of the keyboard does not run for days or exhaust memory.
const (
	maxSteps       = 1_000_000
	maxChains      = 10_000
	maxTop         = 10_000
	maxShortlist   = 1 << 20
	maxMinDistance = 100
	// minTemperature and maxTemperature keep U/T among the ordinary numbers of float64.
	minTemperature = 1e-300
	maxTemperature = 1e300
)

// A Range is a number among Options and the values that it may have. [Options.Check] refuses
// others, and package infill/settings offers these. The zero value of an option means its default,
// whether or not it lies between them.
type Range[N int | float64] struct {
	what     string // of messages
	Min, Max N
	Of       func(*Options) *N // the number within options
}

func (r Range[N]) check(o *Options) error {
	x := *r.Of(o)
	if within := r.Min <= x && x <= r.Max; x != 0 && !within { // NaN is not within
		return fmt.Errorf("%w: %s %v, want %v to %v", text.ErrOption, r.what, x, r.Min, r.Max)
	}
	return nil
}

// Ranges are the ranges of all numbers among Options. They do not change.
var Ranges = struct {
	MinDistance, MinEdits, MaxEdits, Rows, Context, Steps, Chains, Shortlist, Top, Thin Range[int]

	Temperature Range[float64]
}{
	MinDistance: Range[int]{"minimum distance", 0, maxMinDistance,
		func(o *Options) *int { return &o.Words.MinDistance }},
	MinEdits: Range[int]{"least edit distance", 0, maxEdits,
		func(o *Options) *int { return &o.Words.Filter.MinEdits }},
	MaxEdits: Range[int]{"greatest edit distance", 0, maxEdits,
		func(o *Options) *int { return &o.Words.Filter.MaxEdits }},
	Rows: Range[int]{"rows", 1, maxRows,
		func(o *Options) *int { return &o.Search.Rows }},
	Context: Range[int]{"context", minContext, maxContext,
		func(o *Options) *int { return &o.Search.Context }},
	Steps: Range[int]{"steps", 0, maxSteps,
		func(o *Options) *int { return &o.Sampling.Steps }},
	Chains: Range[int]{"chains", 1, maxChains,
		func(o *Options) *int { return &o.Sampling.Chains }},
	Shortlist: Range[int]{"shortlist", 0, maxShortlist,
		func(o *Options) *int { return &o.Sampling.Shortlist }},
	Top: Range[int]{"top", 1, maxTop,
		func(o *Options) *int { return &o.Results.Top }},
	Thin: Range[int]{"thinning", 0, maxSteps,
		func(o *Options) *int { return &o.Results.Thin }},
	Temperature: Range[float64]{"temperature", minTemperature, maxTemperature,
		func(o *Options) *float64 { return &o.Sampling.Temperature }},
}
