package chains

import (
	"context"
	"math"
	"slices"

	"infill/infill/internal/target"
	"infill/internal/gate"
)

// trace notes what a part did, and tells Options.Watch.Trace of every step that has
// now been made by all parts, in order and one at a time.
func (p *run) trace(ctx context.Context, pt *part) error {
	if p.Opt.Watch.Trace == nil {
		return nil
	}
	u := append([]float64(nil), pt.run.U...)
	if p.Opt.Watch.TraceEnergies {
		if err := complete(ctx, pt.tgt, pt.run.X, u); err != nil {
			return err
		}
	}
	// Trace may use the model, for which there must be a place. So nobody who waits
	// for Trace may keep one.
	return gate.Outside(ctx, func() error {
		t := &p.tr
		t.mu.Lock()
		defer t.mu.Unlock()
		for t.next+len(t.open) <= pt.run.Done() {
			s := openStep{left: len(p.parts), tokens: make([][]int32, p.Opt.Sampling.Chains),
				starts: make([][]int, p.Opt.Sampling.Chains)}
			s.Step.Step = t.next + len(t.open)
			s.Energy = make([]float64, p.Opt.Sampling.Chains)
			if s.Step.Step > 0 {
				s.Proposed = make([]bool, p.Opt.Sampling.Chains)
				s.Accepted = make([]bool, p.Opt.Sampling.Chains)
			}
			s.Tokens = func(k int) []int32 { return s.tokens[k] }
			s.Starts = func(k int) []int { return s.starts[k] }
			t.open = append(t.open, s)
		}
		s := &t.open[pt.run.Done()-t.next]
		s.left--
		s.Evals += pt.evals()
		for j, k := range pt.chains {
			x := pt.run.X[j]
			s.Energy[k] = u[j] * pt.tgt.Temp
			l := pt.tgt.LayoutOf(x, nil)
			s.tokens[k], s.starts[k] = pt.tgt.Tokens(nil, l, x, -1, -1), l.Start
			if s.Accepted != nil {
				s.Proposed[k], s.Accepted[k] = pt.run.Last[j].Moved, pt.run.Last[j].Accepted
			}
		}
		for len(t.open) > 0 && t.open[0].left == 0 && t.err == nil {
			done := t.open[0].Step
			t.open = t.open[1:]
			t.next++
			t.err = p.Opt.Watch.Trace(done)
		}
		return t.err
	})
}

// evaluateAtOnce bounds the states of one call.
const evaluateAtOnce = 256

// complete evaluates the energies that are NaN.
func complete(ctx context.Context, t *target.Target, x [][]int32, u []float64) error {
	var open []int
	for k := range u {
		if math.IsNaN(u[k]) {
			open = append(open, k)
		}
	}
	for some := range slices.Chunk(open, evaluateAtOnce) {
		states, found := make([][]int32, len(some)), make([]float64, len(some))
		for i, k := range some {
			states[i] = x[k]
		}
		if err := t.Evaluate(ctx, states, found); err != nil {
			return err
		}
		for i, k := range some {
			u[k] = found[i]
		}
	}
	return nil
}
