package drafts

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
)

const (
	header = "| sampler | proposals | accepted | rows | of the draft | moves in 100 rows | " +
		"blanks changed | different states |\n|---|--:|--:|--:|--:|--:|--:|--:|"
	columns = 8
)

// A tally is what a run did, or several.
type tally struct {
	name           string
	proposals      int     // that differ from the state
	prob           float64 // Σ of their acceptance probabilities
	rows, draft    int     // that the large and the small model evaluated
	moves, changes int     // accepted proposals, and blanks that these changed
	different      int     // states that chains came to
}

func (t *tally) add(o *tally) {
	t.proposals += o.proposals
	t.prob += o.prob
	t.rows += o.rows
	t.draft += o.draft
	t.moves += o.moves
	t.changes += o.changes
	t.different += o.different
}

func (t *tally) line(price float64) string {
	per := 100 / (float64(t.rows) + price*float64(t.draft))
	return fmt.Sprintf("| %s | %d | %.3f | %d | %d | %.1f | %.1f | %.1f |", t.name, t.proposals,
		t.prob/float64(t.proposals), t.rows, t.draft, float64(t.moves)*per, float64(t.changes)*per,
		float64(t.different)*per)
}

// A walk makes a step of all chains, and gives their states.
type walk func() (x [][]int32, err error)

// compare runs all samplers on a sentence.
func compare(ctx context.Context, t *text.Template, large, small *mlm.Model,
	o options) ([]*tally, error) {
	in := newText(large, t)
	out := make([][]float32, len(in.in.Blanks))
	for i := range out {
		out[i] = make([]float32, large.VocabSize())
	}
	if err := large.Independent(ctx, in.in, out); err != nil {
		return nil, err
	}
	starts := make([][]int32, o.chains)
	for k := range starts {
		draw := drawer(samplers.NewStream(o.seed, "starts", k))
		for i := range out {
			w, _ := weights(in.pick(out[i]), 1)
			starts[k] = append(starts[k], int32(draw(w)))
		}
	}
	in.asked = map[string]bool{}
	first, err := samplers.Start(ctx, &samplers.Rows{}, in, starts,
		samplers.Options{Seed: o.seed, ID: "first", Burnin: o.burnin / 2})
	if err != nil {
		return nil, err
	}
	for range o.burnin {
		if err := first.Step(ctx); err != nil {
			return nil, err
		}
	}
	rate := 0.0
	for k, x := range first.X {
		starts[k] = slices.Clone(x)
		rate += first.Tuning(k)["rate"] / float64(o.chains)
	}

	var all []*tally
	for _, s := range []samplers.Sampler{&samplers.Rows{Rate: rate}, &samplers.GibbsMH{}} {
		if err := in.begin(ctx, starts); err != nil {
			return nil, err
		}
		r, err := samplers.Start(ctx, s, in, starts, samplers.Options{Seed: o.seed, ID: s.Info().Name})
		if err != nil {
			return nil, err
		}
		a, err := follow(in, starts, o, func() ([][]int32, error) {
			err := r.Step(ctx)
			return r.X, err
		})
		if err != nil {
			return nil, err
		}
		for _, s := range r.Stats {
			a.proposals += s.Moved
			a.prob += s.SumProb - float64(s.Steps-s.Moved)
		}
		a.name = s.Info().Name
		all = append(all, a)
	}
	for _, temp := range o.temps {
		for _, blanks := range o.blanks {
			for _, k := range o.ks {
				a, err := draft(ctx, in, newText(small, t), starts, o,
					drafts{steps: k, blanks: blanks, temp: temp})
				if err != nil {
					return nil, err
				}
				all = append(all, a)
			}
		}
	}
	return all, nil
}

// draft measures drafts. Its chains make their steps at the same time, so that models see batches.
func draft(ctx context.Context, large, small *sentence, starts [][]int32, o options,
	d drafts) (*tally, error) {
	d.large, d.small = large, small
	name := fmt.Sprintf("draft, k = %d, blanks %d, T̃ = %v", d.steps, d.blanks, d.temp)
	for _, t := range []*sentence{large, small} {
		if err := t.begin(ctx, starts); err != nil {
			return nil, err
		}
	}
	x := slices.Clone(starts)
	prob, errs := make([]float64, len(x)), make([]error, len(x))
	draws := make([]pick, len(x))
	for k := range x {
		draws[k] = drawer(samplers.NewStream(o.seed, name, k))
	}
	proposals, sum := 0, 0.0
	a, err := follow(large, starts, o, func() ([][]int32, error) {
		var wait sync.WaitGroup
		for k := range x {
			wait.Go(func() { x[k], prob[k], errs[k] = d.step(ctx, x[k], draws[k]) })
		}
		wait.Wait()
		for k, p := range prob {
			if errs[k] != nil {
				return nil, errs[k]
			}
			if p == p {
				proposals++
				sum += p
			}
		}
		return x, nil
	})
	if err != nil {
		return nil, err
	}
	a.name, a.proposals, a.prob, a.draft = name, proposals, sum, small.count
	return a, nil
}

// follow lets chains walk until their rows or steps are used up.
func follow(in *sentence, starts [][]int32, o options, step walk) (*tally, error) {
	a, seen, at := &tally{}, map[string]bool{}, slices.Clone(starts)
	for _, x := range starts {
		seen[fmt.Sprint(x)] = true
	}
	known := len(seen)
	for n := 0; in.count < o.rows && n < o.steps; n++ {
		x, err := step()
		if err != nil {
			return nil, err
		}
		for k := range x {
			changed := 0
			for i, v := range x[k] {
				if v != at[k][i] {
					changed++
				}
			}
			if changed > 0 {
				a.moves++
				a.changes += changed
				seen[fmt.Sprint(x[k])] = true
				at[k] = slices.Clone(x[k]) // samplers use their states again
			}
		}
	}
	a.rows, a.different = in.count, len(seen)-known
	return a, nil
}
