package protocols

import (
	"context"
	"fmt"
	"slices"

	"infill/infill"
	"infill/lab/internal/chains"
	"infill/lab/internal/domain"
	"infill/mlm"
	"infill/samplers"
)

// fromMasks is the protocol whose chains begin with [MASK] in every blank, as the text code of ACS
// has it (Pynadath et al. 2024, run_text_sampling.py). A state of package infill has words in its
// blanks, so these runs have a target of their own.
const fromMasks = "M"

// maskedTarget is U of a sentence whose blanks may hold [MASK] too, as one more token: Σ_i of
// log f(token of blank i | the sentence, blank i masked, the others as they are). Where the others
// are [MASK], the model sees that.
type maskedTarget struct {
	model *mlm.Model
	s     *mlm.Sentence
	mode  mlm.GradientMode
	ids   []int32 // of the categories of every blank; the last is [MASK]
	dom   *samplers.Domain
	known map[string]*point
}

// A point is what the model said of a state.
type point struct {
	u    float64
	grad []float32 // over the vocabulary, blank after blank; nil where nobody asked
}

// newMaskedTarget allows what -vocab all does, and [MASK]: no piece that continues a word, and no
// unused and no other special token.
func newMaskedTarget(m *mlm.Model, s *mlm.Sentence, mode mlm.GradientMode) *maskedTarget {
	t := &maskedTarget{model: m, s: s, mode: mode, known: map[string]*point{}}
	tok := m.Tokenizer()
	for id := range int32(tok.VocabSize()) {
		if !tok.IsSpecial(id) && !tok.IsUnused(id) && !tok.IsContinuation(id) {
			t.ids = append(t.ids, id)
		}
	}
	t.ids = append(t.ids, tok.MaskID())
	t.dom = domain.Categories(len(s.Blanks), len(t.ids))
	return t
}

// start is n chains with [MASK] in every blank.
func (t *maskedTarget) start(n int) [][]int32 {
	x := make([][]int32, n)
	for k := range x {
		x[k] = slices.Repeat([]int32{int32(len(t.ids) - 1)}, len(t.s.Blanks))
	}
	return x
}

// tokens are the ids of a state.
func (t *maskedTarget) tokens(x []int32) []int32 {
	out := make([]int32, len(x))
	for i, v := range x {
		out[i] = t.ids[v]
	}
	return out
}

// Domain implements samplers.Target.
func (t *maskedTarget) Domain() *samplers.Domain { return t.dom }

// points are what the model says of states, asked for what is not known yet.
func (t *maskedTarget) points(ctx context.Context, x [][]int32, grad bool) ([]*point, error) {
	out := make([]*point, len(x))
	var states [][]int32
	var fresh []*point
	for k := range x {
		name := fmt.Sprint(x[k])
		p := t.known[name]
		if p == nil || grad && p.grad == nil {
			p = &point{}
			t.known[name] = p
			states, fresh = append(states, t.tokens(x[k])), append(fresh, p)
		}
		out[k] = p
	}
	if len(states) == 0 {
		return out, nil
	}
	logProb := rows(len(states), len(t.s.Blanks))
	var err error
	if grad {
		wide := rows(len(states), len(t.s.Blanks)*t.model.VocabSize())
		err = t.model.Gradient(ctx, t.s, states, t.mode, logProb, wide)
		for j, p := range fresh {
			p.grad = wide[j]
		}
	} else {
		err = t.model.LogProb(ctx, t.s, states, logProb)
	}
	for j, p := range fresh {
		for _, l := range logProb[j] {
			p.u += float64(l)
		}
	}
	return out, err
}

func rows(n, width int) [][]float32 {
	out := make([][]float32, n)
	for i := range out {
		out[i] = make([]float32, width)
	}
	return out
}

// Energy implements samplers.Target.
func (t *maskedTarget) Energy(ctx context.Context, x [][]int32, u []float64) error {
	ps, err := t.points(ctx, x, false)
	for k, p := range ps {
		u[k] = p.u
	}
	return err
}

// EnergyGrad implements samplers.Gradienter.
func (t *maskedTarget) EnergyGrad(ctx context.Context, x [][]int32, u []float64,
	grad [][]float64) error {
	ps, err := t.points(ctx, x, true)
	if err != nil {
		return err
	}
	v := t.model.VocabSize()
	for k, p := range ps {
		u[k] = p.u
		for i := range t.s.Blanks {
			g := grad[k][t.dom.GradOffset(i):]
			for c, id := range t.ids {
				g[c] = float64(p.grad[i*v+int(id)])
			}
		}
	}
	return nil
}

// ExactConditionals implements samplers.Conditioner.
func (t *maskedTarget) ExactConditionals() bool { return false }

// Conditional implements samplers.Conditioner.
func (t *maskedTarget) Conditional(ctx context.Context, x [][]int32, at []int,
	logp [][]float64) error {
	states := make([][]int32, len(x))
	for k := range x {
		states[k] = t.tokens(x[k])
	}
	out := rows(len(x), t.model.VocabSize())
	err := t.model.Conditional(ctx, t.s, states, at, out)
	for k := range x {
		for c, id := range t.ids {
			logp[k][c] = float64(out[k][id])
		}
	}
	return err
}

// masked is one for protocol M.
func (j *job) masked(ctx context.Context, c *chain, t task, k key) (
	rec *record, early []*record, err error,
) {
	if k.Budget != "steps" || j.vocab != "all" {
		return nil, nil, fmt.Errorf("-protocols %s: want -budget steps and -vocab all", fromMasks)
	}
	at, err := j.early()
	if err != nil {
		return nil, nil, err
	}
	opt := infill.Options{Sampling: infill.SamplingOptions{Steps: j.steps}}
	sampler, err := chains.Sampler(k.Sampler, &opt)
	if err != nil {
		return nil, nil, err
	}
	tmpl := t.template
	target := newMaskedTarget(c.model, &mlm.Sentence{IDs: tmpl.IDs, Blanks: tmpl.Positions()},
		opt.Sampling.Gradient)
	w := &watcher{tok: c.model.Tokenizer(), text: tmpl.Text}
	begin := chains.CPU()
	run, err := samplers.Start(ctx, sampler, target, target.start(j.chains), samplers.Options{
		Seed: k.Seed, ID: t.id + " from masks", Burnin: opt.Burnin()})
	if err != nil {
		return nil, nil, err
	}
	var before samplers.Stats
	see := func(r *samplers.Run) error {
		evals := make([]int, r.Len())
		for k, s := range r.Stats { // what only the trace asks for is not the sampler's
			evals[k] = s.Evals
		}
		if err := r.Refresh(ctx); err != nil {
			return err
		}
		for k := range evals {
			r.Stats[k].Evals = evals[k]
		}
		w.trace.Add(infill.Step{Energy: r.U,
			Tokens: func(k int) []int32 { return target.tokens(r.X[k]) }})
		if r.Done() == r.Burnin {
			before = together(r.Stats)
		}
		return nil
	}
	if err := see(run); err != nil {
		return nil, nil, err
	}
	if err := run.Steps(ctx, j.steps, see); err != nil {
		return nil, nil, err
	}
	all := together(run.Stats)
	rec = w.at(&record{key: k}, j.steps)
	rec.Of, rec.Blanks, rec.Gold, rec.Evals = 0, len(tmpl.Blanks), t.gold, all.Evals
	rec.Seconds, rec.Rows = (chains.CPU() - begin).Seconds(), all.Evals*len(tmpl.Blanks)
	rec.Moves = finite(float64(all.Moved-before.Moved) / float64(all.Steps-before.Steps))
	for _, step := range at {
		early = append(early, w.at(rec, step))
	}
	return rec, early, nil
}

// together sums what all chains did.
func together(each []samplers.Stats) (all samplers.Stats) {
	for _, s := range each {
		all.Add(s)
	}
	return all
}
