package infill

import (
	"context"
	"fmt"

	"infill/mlm"
)

// rescoredOf is how many fillings of a rounded model are scored again in float32, the best by its
// own scores. A filling's rank changes where scores are nearer than the rounding, so that some
// more than are printed are enough. A filter may take any of them away and a choice of different
// ones goes far down: 0 is for all.
func rescoredOf(o *Options) int {
	if o.Top == 0 || o.Filter.on() || o.Select == SelectDiverse {
		return 0
	}
	return 8 + 2*o.Top
}

// rescore gives the fillings of a rounded model the scores that they have in float32, and keeps
// those that have one. first are their states. Of other models it does nothing.
func (p *plan) rescore(ctx context.Context, res *Result, first []*sighting) error {
	m, err := p.e.model.Float32(ctx)
	if err != nil || m == p.e.model {
		return err
	}
	state := map[string]*sighting{}
	for i, s := range first {
		state[res.Fillings[i].Text] = s
	}
	rank(res.Fillings, p.open)
	if n := rescoredOf(p.opt); n > 0 && len(res.Fillings) > n {
		res.Fillings = res.Fillings[:n]
	}
	byTarget := map[*target][]*Filling{}
	var order []*target
	for i := range res.Fillings {
		f := &res.Fillings[i]
		t := state[f.Text].tgt
		if byTarget[t] == nil {
			order = append(order, t)
		}
		byTarget[t] = append(byTarget[t], f)
	}
	for _, t := range order {
		exact, err := p.unrounded(ctx, t)
		if err != nil {
			return err
		}
		exact.temp = 1
		x := make([][]int32, len(byTarget[t]))
		for i, f := range byTarget[t] {
			x[i] = state[f.Text].x
		}
		u := make([]float64, len(x))
		if err := exact.energy(ctx, x, u); err != nil {
			return fmt.Errorf("scoring in %s: %w", mlm.Float32, err)
		}
		for i, f := range byTarget[t] {
			f.Score = u[i]
			f.ScorePerToken = u[i] / float64(len(f.ids))
		}
	}
	return nil
}

// unrounded is a target of the model in float32 with the same states. It is t itself unless
// the model is rounded.
func (p *plan) unrounded(ctx context.Context, t *target) (*target, error) {
	m, err := p.e.model.Float32(ctx)
	if err != nil || m == p.e.model {
		return t, err
	}
	out := *t
	out.model, out.buckets, out.byKey = t.model.unrounded(m), nil, map[*layout]*bucket{}
	return &out, nil
}
