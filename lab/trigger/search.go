package trigger

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"infill/lab/internal/domain"
	"infill/samplers"
)

// run is one call of Run.
type run struct {
	*task
	o           Options
	train, held []row
	sample      []row // of the training part, on which candidates are compared
	prompts     *Prompts
	vocab       []int32 // tokens that a trigger may have
}

const (
	// sampleSize is the most sentences on which candidates are compared. Mini-batches are too
	// few to rank by, and all sentences too many to do it often.
	sampleSize = 200
	// every is how many steps apart a candidate is: the best of these by its mini-batch.
	every = 20
)

// vocabulary lists what a trigger may be made of: whole words that are not those of the labels.
func (r *run) vocabulary() error {
	for _, id := range r.tok.WholeWords() {
		if !slices.Contains(r.words, id) {
			r.vocab = append(r.vocab, id)
		}
	}
	if len(r.vocab) == 0 {
		return fmt.Errorf("%w: their words are all whole words of the vocabulary; none is left for a "+
			"trigger", ErrLabels)
	}
	return nil
}

// best is the best candidate so far.
type best struct {
	run    *run
	tokens []int32
	value  float64
	tried  map[string]bool
}

func (r *run) newBest() *best { return &best{run: r, value: math.NaN(), tried: map[string]bool{}} }

// try compares a candidate with the best, on the sample.
func (b *best) try(ctx context.Context, tokens []int32) error {
	key := fmt.Sprint(tokens)
	if b.tried[key] {
		return nil
	}
	m, err := b.run.evaluate(ctx, b.run.sample, tokens)
	if err != nil {
		return err
	}
	b.tried[key] = true
	if !(m.Objective <= b.value) {
		b.tokens, b.value = slices.Clone(tokens), m.Objective
	}
	return nil
}

// all makes the search, the baseline and the final measures.
func (r *run) all(ctx context.Context, out *Result, train, held []Example) error {
	r.sample = r.train[:min(sampleSize, len(r.train))] // in the order of the shuffle
	starts := domain.Categories(r.o.Words, len(r.vocab)).Randoms(
		rand.New(rand.NewPCG(r.o.Seed, 0x7374617274)), r.o.Chains)
	first := r.tokens(starts[0])
	found, steps, err := r.search(ctx, starts)
	out.Steps, out.Interrupted = steps, ctx.Err() != nil
	if err != nil && !out.Interrupted {
		return err
	}
	var relaxed *best
	var vectors []float32
	if r.o.Relax && !out.Interrupted {
		relaxed, vectors, err = r.relax(ctx, starts)
		out.Interrupted = ctx.Err() != nil
		if err != nil && !out.Interrupted {
			return err
		}
	}
	// What was found is measured, whether or not somebody has seen enough of the search.
	ctx = context.WithoutCancel(ctx)
	r.report(Progress{Phase: "evaluation", Steps: r.o.Steps, Step: steps, Best: found.value,
		Trigger: r.found(found.tokens).Trigger})
	if found.tokens == nil {
		found.tokens = first
	}
	out.Found = r.found(found.tokens)
	if out.Both, err = r.both(ctx, found.tokens); err != nil {
		return err
	}
	if out.Random, err = r.both(ctx, first); err != nil {
		return err
	}
	if relaxed != nil && !out.Interrupted {
		out.Relaxed = &Relaxed{Found: r.found(relaxed.tokens)}
		if out.Relaxed.Both, err = r.both(ctx, relaxed.tokens); err != nil {
			return err
		}
		if out.Relaxed.Vectors.Train, err = r.soft(ctx, r.train, vectors); err != nil {
			return err
		}
		if out.Relaxed.Vectors.HeldOut, err = r.soft(ctx, r.held, vectors); err != nil {
			return err
		}
	}
	return r.empty(ctx, out, train, held)
}

// empty measures the template without a trigger.
func (r *run) empty(ctx context.Context, out *Result, train, held []Example) error {
	for _, part := range []struct {
		examples []Example
		to       *Measure
	}{{train, &out.Empty.Train}, {held, &out.Empty.HeldOut}} {
		rows, err := r.rows(r.o.Template, part.examples, 0, r.o.MaxPieces)
		if err != nil {
			return err
		}
		if *part.to, err = r.evaluate(ctx, rows, nil); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) both(ctx context.Context, tokens []int32) (b Both, err error) {
	if b.Train, err = r.evaluate(ctx, r.train, tokens); err != nil {
		return b, err
	}
	b.HeldOut, err = r.evaluate(ctx, r.held, tokens)
	return b, err
}

// search runs SGDLD from the starts. It returns the best candidate and the number of steps made,
// also with an error.
func (r *run) search(ctx context.Context, starts [][]int32) (*best, int, error) {
	found := r.newBest()
	var candidate []int32
	top := math.Inf(-1)
	t := &target{run: r, dom: domain.Categories(r.o.Words, len(r.vocab))}
	t.seen = func(state []int32, mean float64) {
		if mean > top || candidate == nil {
			candidate, top = r.tokens(state), mean
		}
	}
	s := &samplers.SGDLD{Jump: r.o.Jump, Batch: r.o.Batch, Rates: samplers.TaylorRates}
	chains, err := samplers.Start(ctx, s, t, starts, samplers.Options{Seed: r.o.Seed, ID: "trigger"})
	if err != nil {
		return found, 0, err
	}
	for step := range r.o.Steps {
		t.beta = r.o.Slope * float64(step+1) // of the estimate that ends this step
		if err := chains.Step(ctx); err != nil {
			return found, step, err
		}
		if (step+1)%every == 0 || step+1 == r.o.Steps {
			if err := found.try(ctx, candidate); err != nil {
				return found, step + 1, err
			}
			candidate, top = nil, math.Inf(-1)
		}
		r.report(Progress{Phase: "search", Step: step + 1, Steps: r.o.Steps, Best: found.value,
			Trigger: r.found(found.tokens).Trigger})
	}
	for _, x := range chains.X {
		if err := found.try(ctx, r.tokens(x)); err != nil {
			return found, r.o.Steps, err
		}
	}
	return found, r.o.Steps, nil
}

func (r *run) report(p Progress) {
	if r.o.Progress != nil {
		r.o.Progress(p)
	}
}
