package infill

import (
	"context"
	"fmt"
	"math"
	"slices"

	"infill/internal/gate"
	"infill/samplers"
)

// A Tuning is what a sampler adapted to a text, for the chains of one number of coordinates. A
// coordinate is a token of a blank, or the whole filling of a blank with a list. Tied blanks
// have one.
type Tuning struct {
	Coordinates int
	Chains      int
	// Values are the adapted quantities by name (samplers.Tuned), geometric means over the chains.
	Values map[string]float64
	Stats  samplers.Stats // after the burn-in, summed over the chains
}

// Tune samples a text as Fill does, but for Options.Method, and returns what the sampler adapted in
// the first half of the steps, in the order of the numbers of coordinates. It is nil where there is
// but one state, or where the sampler adapts nothing. Options.Tuned must be nil. Errors are those
// of Fill.
func (e *Engine) Tune(ctx context.Context, t *Template, opt Options) ([]Tuning, error) {
	opt.Method, opt.Collect = MethodSample, CollectLast
	if err := e.usable(ctx, t, &opt); err != nil {
		return nil, err
	}
	if opt.Tuned != nil {
		return nil, fmt.Errorf("%w: a sampler that is tuned already", ErrOption)
	}
	if err := opt.fill(); err != nil {
		return nil, err
	}
	var out []Tuning
	err := gate.Compute(ctx, e.model, func(ctx context.Context) error {
		p, err := e.plan(t, &opt)
		if err != nil {
			return err
		}
		if err := p.start(ctx); err != nil {
			return err
		}
		if _, err := p.sample(ctx); err != nil {
			return err
		}
		out = p.tunings()
		return nil
	})
	return out, err
}

// tunings gathers what the parts adapted, by their numbers of coordinates.
func (p *plan) tunings() []Tuning {
	byNumber := map[int]*Tuning{}
	for _, pt := range p.parts {
		if pt.tgt.domain.MaxK() == 1 || pt.run.Tuning(0) == nil {
			continue
		}
		n := len(pt.tgt.coords)
		if byNumber[n] == nil {
			byNumber[n] = &Tuning{Coordinates: n, Values: map[string]float64{}}
		}
		one := byNumber[n]
		one.Stats.Add(sumStats(pt.run.Stats))
		one.Chains += len(pt.chains)
		for k := range pt.chains {
			for name, v := range pt.run.Tuning(k) {
				one.Values[name] += math.Log(v)
			}
		}
	}
	var out []Tuning
	for _, one := range byNumber {
		for name := range one.Values {
			one.Values[name] = math.Exp(one.Values[name] / float64(one.Chains))
		}
		out = append(out, *one)
	}
	slices.SortFunc(out, func(a, b Tuning) int { return a.Coordinates - b.Coordinates })
	return out
}
