package infill

import (
	"fmt"

	"infill/infill/internal/text"
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
// others, and package infill/settings offers these.
type Range[N int | float64] struct {
	what     string // of messages
	min, max N      // 0 is none of them where it stands for a default only
	none     string // the constant of -1, "" if there is none
	of       func(*Options) *N
}

// Min is the least value that somebody may choose, and Max the greatest. The zero value of an
// option means its default, whether or not it lies between them.
func (r Range[N]) Min() N { return r.min }

// Max is the greatest value.
func (r Range[N]) Max() N { return r.max }

// Of is the number within options.
func (r Range[N]) Of(o *Options) *N { return r.of(o) }

func (r Range[N]) check(o *Options) error {
	x := *r.of(o)
	switch {
	case x == 0 || x >= r.min && x <= r.max:
		return nil
	case r.none == "":
		return fmt.Errorf("%w: %s %v, want %v to %v", text.ErrOption, r.what, x, r.min, r.max)
	case x == -1:
		return nil
	}
	return fmt.Errorf("%w: %s %v, want %v to %v, or %s", text.ErrOption, r.what, x, r.min, r.max,
		r.none)
}

// Ranges are those of Options, which do not change.
var Ranges = struct {
	MinDistance, MinEdits, MaxEdits, Rows, Context, Steps, Chains, Shortlist, Top, Thin Range[int]

	Temperature Range[float64]
}{
	MinDistance: Range[int]{what: "minimum distance", max: maxMinDistance,
		of: func(o *Options) *int { return &o.Words.MinDistance }},
	MinEdits: Range[int]{what: "least edit distance", max: maxEdits,
		of: func(o *Options) *int { return &o.Words.Filter.MinEdits }},
	MaxEdits: Range[int]{what: "greatest edit distance", max: maxEdits,
		of: func(o *Options) *int { return &o.Words.Filter.MaxEdits }},
	Rows: Range[int]{what: "rows", min: 1, max: maxRows,
		of: func(o *Options) *int { return &o.Search.Rows }},
	Context: Range[int]{what: "context", min: minContext, max: maxContext,
		of: func(o *Options) *int { return &o.Search.Context }},
	Steps: Range[int]{what: "steps", max: maxSteps, none: "NoSteps",
		of: func(o *Options) *int { return &o.Sampling.Steps }},
	Chains: Range[int]{what: "chains", min: 1, max: maxChains,
		of: func(o *Options) *int { return &o.Sampling.Chains }},
	Shortlist: Range[int]{what: "shortlist", max: maxShortlist, none: "NoShortlist",
		of: func(o *Options) *int { return &o.Sampling.Shortlist }},
	Top: Range[int]{what: "top", min: 1, max: maxTop, none: "AllFillings",
		of: func(o *Options) *int { return &o.Results.Top }},
	Thin: Range[int]{what: "thinning", max: maxSteps,
		of: func(o *Options) *int { return &o.Results.Thin }},
	Temperature: Range[float64]{what: "temperature", min: minTemperature, max: maxTemperature,
		of: func(o *Options) *float64 { return &o.Sampling.Temperature }},
}
