package infill

import (
	"context"
	"fmt"
	"slices"

	"infill/mlm"
)

// diversePool is how many fillings a search finds, at least, to choose different ones among them.
const diversePool = 20

// A placed is a state of a target whose score is known in some form.
type placed struct {
	tgt *target
	x   []int32
}

// rescoredOf is how many fillings are scored again, the best by the scores that they have: those of
// a rounded model, those of rows that saw a part of the text, or the U of samplers. A rank changes
// where scores are nearer than what differs, so that some more than are printed are enough. A
// choice of different ones goes further down. 0 is for all.
func rescoredOf(o *Options) int {
	switch {
	case o.Results.All:
		return 0
	case o.Results.Diverse:
		return diversePool + 4*o.leastBest()
	}
	return 8 + 2*o.leastBest()
}

// statesOf are the states of fillings by their texts.
func statesOf(fillings []Filling, states []placed) map[string]placed {
	of := map[string]placed{}
	for i, s := range states {
		of[fillings[i].Text] = s
	}
	return of
}

// rescore gives fillings the scores that are printed, of the whole text and in float32, and keeps
// those that have one. state are theirs by their texts. narrow says that the scores are of rows
// that saw parts of the text.
func (p *plan) rescore(ctx context.Context, res *Result, state map[string]placed,
	narrow bool) error {
	m, err := p.e.model.Float32(ctx)
	if err != nil {
		return err
	}
	blend := res.Method == MethodSample && p.opt.Results.Score != ScorePLL
	cut := res.Method == MethodSample && p.parts[0].tgt.touches()
	if m == p.e.model && !narrow && !blend && !cut {
		res.Fillings = p.sieve.undropped(res.Fillings)
		return nil
	}
	rank(res.Fillings, p.perToken)
	n := rescoredOf(p.opt)
	if narrow && n > 0 { // a row of the whole text takes long
		n = p.opt.leastBest()
	}
	if n > 0 && len(res.Fillings) > n {
		res.Fillings = res.Fillings[:n]
	}
	byTarget := map[*target][]*Filling{}
	var order []*target
	for i := range res.Fillings {
		f := &res.Fillings[i]
		t := p.together(state[f.Text].tgt)
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
		x := make([][]int32, len(byTarget[t]))
		for i, f := range byTarget[t] {
			x[i] = state[f.Text].x
		}
		parts, _, err := exact.parts(ctx, exact.model, x, p.opt.Results.Score)
		if err != nil {
			return fmt.Errorf("scoring in %s: %w", mlm.Float32, err)
		}
		if _, err := exact.finishedParts(ctx, exact.model, byTarget[t], p.opt.Results.Score,
			func(i int, of Parts) { parts[i] = of }); err != nil {
			return err
		}
		u := make([]float64, len(x))
		for i := range u {
			u[i] = p.opt.Results.Score.of(parts[i])
		}
		if err := exact.addTerms(ctx, x, u, 1); err != nil {
			return err
		}
		for i, f := range byTarget[t] {
			f.Score, f.Parts = u[i], parts[i]
			f.ScorePerToken = u[i] / float64(len(f.ids))
		}
	}
	res.Fillings = p.sieve.undropped(res.Fillings)
	return nil
}

// together is the target that scores the states of t: of parts that chains were divided into the
// first, so that a row of several is evaluated once.
func (p *plan) together(t *target) *target {
	i := slices.IndexFunc(p.parts, func(pt *part) bool { return pt.tgt == t })
	return p.parts[slices.IndexFunc(p.parts, func(pt *part) bool {
		return pt.id == p.parts[i].id && (pt.tgt == t || p.opt.Method == MethodSample)
	})].tgt
}

// unrounded is a target of the model in float32 with the same states. It is t itself unless
// the model is rounded.
func (p *plan) unrounded(ctx context.Context, t *target) (*target, error) {
	m, err := p.e.model.Float32(ctx)
	if err != nil || m == p.e.model {
		return t, err
	}
	return t.with(t.model.Unrounded(m)), nil
}
