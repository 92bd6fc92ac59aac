package request

import (
	"fmt"

	"infill/infill/text"
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

// Ranges are the ranges of all numbers among Options. They do not change. A slip of the keyboard
// does not run for days or exhaust memory.
var Ranges = struct {
	MinDistance, MinEdits, MaxEdits, Rows, Context, Steps, Chains, Shortlist, Top, Thin Range[int]

	Temperature Range[float64]
}{
	MinDistance: Range[int]{"minimum distance", 0, 100,
		func(o *Options) *int { return &o.Words.MinDistance }},
	MinEdits: Range[int]{"least edit distance", 0, 1_000_000,
		func(o *Options) *int { return &o.Words.Filter.MinEdits }},
	MaxEdits: Range[int]{"greatest edit distance", 0, 1_000_000,
		func(o *Options) *int { return &o.Words.Filter.MaxEdits }},
	Rows: Range[int]{"rows", 1, 10_000_000,
		func(o *Options) *int { return &o.Search.Rows }},
	Context: Range[int]{"context", 16, 1 << 20,
		func(o *Options) *int { return &o.Search.Context }},
	Steps: Range[int]{"steps", 0, 1_000_000,
		func(o *Options) *int { return &o.Sampling.Steps }},
	Chains: Range[int]{"chains", 1, 10_000,
		func(o *Options) *int { return &o.Sampling.Chains }},
	Shortlist: Range[int]{"shortlist", 0, 1 << 20,
		func(o *Options) *int { return &o.Sampling.Shortlist }},
	Top: Range[int]{"top", 1, 10_000,
		func(o *Options) *int { return &o.Results.Top }},
	Thin: Range[int]{"thinning", 0, 1_000_000,
		func(o *Options) *int { return &o.Results.Thin }},
	// U/T is among the ordinary numbers of float64.
	Temperature: Range[float64]{"temperature", 1e-300, 1e300,
		func(o *Options) *float64 { return &o.Sampling.Temperature }},
}
