package choosing

import (
	"context"
	"fmt"

	"infill/infill/internal/target"
	"infill/infill/request"
	"infill/mlm"
)

// DiversePool is how many fillings a search finds, at least, to choose different ones among them.
const DiversePool = 20

// A Placed is a state of a target whose score is known in some form.
type Placed struct {
	Target *target.Target
	State  []int32
}

// rescoredOf is how many fillings are scored again, the best by the scores that they have: those of
// a rounded model, those of rows that saw a part of the text, or the U of samplers. A rank changes
// where scores are nearer than what differs, so that some more than are printed are enough. A
// choice of different ones goes further down. 0 is for all.
func rescoredOf(o *request.Options) int {
	switch {
	case o.Results.All:
		return 0
	case o.Results.Diverse:
		return DiversePool + 4*LeastBest(o)
	}
	return 8 + 2*LeastBest(o)
}

// Finish makes a result of the fillings that were found: with the scores that are printed, the best
// of them with their energies. state are theirs by their texts. narrow says that the scores are of
// rows that saw parts of the text, and refused is how many things were, see WarnRefused.
func (p *Chooser) Finish(ctx context.Context, res *request.Result, state map[string]Placed,
	narrow bool, refused int, what string) error {
	if err := p.rescore(ctx, res, state, narrow); err != nil {
		return err
	}
	if len(res.Fillings) == 0 {
		return p.Sieve.Err()
	}
	p.Choose(res, func(f []request.Filling) { rank(f, p.PerToken) })
	WarnRefused(res, refused, what)
	res.Evaluated = p.Asked.Evaluated()
	return p.Energies(ctx, res.Fillings)
}

// rescore gives fillings scores of the whole text and in float32, and keeps those that have one.
func (p *Chooser) rescore(ctx context.Context, res *request.Result, state map[string]Placed,
	narrow bool) error {
	m, err := p.Base.Float32(ctx)
	if err != nil {
		return err
	}
	blend := res.Method == request.MethodSample && p.Opt.Results.Score != request.ScorePLL
	cut := res.Method == request.MethodSample && p.Choices[0].Target.Touches()
	if m == p.Base && !narrow && !blend && !cut {
		res.Fillings = p.Sieve.Undropped(res.Fillings)
		return nil
	}
	rank(res.Fillings, p.PerToken)
	n := rescoredOf(p.Opt)
	if narrow && n > 0 { // a row of the whole text takes long
		n = LeastBest(p.Opt)
	}
	if n > 0 && len(res.Fillings) > n {
		res.Fillings = res.Fillings[:n]
	}
	byTarget := map[*target.Target][]*request.Filling{}
	var order []*target.Target
	for i := range res.Fillings {
		f := &res.Fillings[i]
		t := state[f.Text].Target.Together()
		if byTarget[t] == nil {
			order = append(order, t)
		}
		byTarget[t] = append(byTarget[t], f)
	}
	for _, t := range order {
		if err := p.score(ctx, t, byTarget[t], state); err != nil {
			return err
		}
	}
	res.Fillings = p.Sieve.Undropped(res.Fillings)
	return nil
}

// score scores fillings of one target.
func (p *Chooser) score(ctx context.Context, t *target.Target, fillings []*request.Filling,
	state map[string]Placed) error {
	t, err := p.Unrounded(ctx, t)
	if err != nil {
		return err
	}
	x, by := make([][]int32, len(fillings)), p.Opt.Results.Score
	for i, f := range fillings {
		x[i] = state[f.Text].State
	}
	parts, _, err := t.Parts(ctx, t.Model, x, by)
	if err != nil {
		return fmt.Errorf("scoring in %s: %w", mlm.Float32, err)
	}
	if _, err := t.FinishedParts(ctx, t.Model, fillings, by,
		func(i int, of request.Parts) { parts[i] = of }); err != nil {
		return err
	}
	u := make([]float64, len(x))
	for i := range u {
		u[i] = by.Of(parts[i])
	}
	if err := t.AddTerms(ctx, x, u, 1); err != nil {
		return err
	}
	for i, f := range fillings {
		f.Score, f.Parts = u[i], parts[i]
		f.ScorePerToken = u[i] / float64(len(f.IDs))
	}
	return nil
}

// LeastBest is how many best fillings a search is to find at least. Up to the default of Top a
// search looks at the same fillings whatever Top is.
func LeastBest(o *request.Options) int { return max(request.DefaultTop, o.Results.Top) }
