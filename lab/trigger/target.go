package trigger

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"

	"infill/samplers"
)

// target is the objective as a sampler sees it: a coordinate per token of the trigger, whose
// categories are the words it may be, and U = β · mean over the sentences.
type target struct {
	*run
	beta float64
	dom  *samplers.Domain
	// seen is told of every state with the mean of its mini-batch.
	seen func(state []int32, mean float64)
}

var (
	_ samplers.StochasticGradienter = (*target)(nil)
	_ samplers.Gradienter           = (*target)(nil)
)

// Domain implements samplers.Target.
func (t *target) Domain() *samplers.Domain { return t.dom }

// Energy implements samplers.Target.
func (t *target) Energy(ctx context.Context, x [][]int32, u []float64) error {
	for k := range x {
		m, err := t.evaluate(ctx, t.train, t.tokens(x[k]))
		if err != nil {
			return err
		}
		u[k] = t.beta * m.Objective
	}
	return nil
}

// EnergyGrad implements samplers.Gradienter, by all sentences.
func (t *target) EnergyGrad(ctx context.Context, x [][]int32, u []float64, grad [][]float64) error {
	all := make([]int, len(t.train))
	for n := range all {
		all[n] = n
	}
	for k := range x {
		if err := t.oneHot(ctx, x[k], all, &u[k], grad[k]); err != nil {
			return err
		}
		u[k] *= t.beta
	}
	return nil
}

// StochasticGrad implements samplers.StochasticGradienter by batch different sentences.
func (t *target) StochasticGrad(ctx context.Context, x [][]int32, batch int, rng []*rand.Rand,
	u []float64, grad [][]float64) error {
	for k := range x {
		if err := t.oneHot(ctx, x[k], t.draw(rng[k], batch), &u[k], grad[k]); err != nil {
			return err
		}
		if t.seen != nil {
			t.seen(x[k], u[k])
		}
		u[k] *= t.beta
	}
	return nil
}

// oneHot is the mean of the objective over some sentences, and β times its derivatives by the
// one-hot vectors of the trigger's words.
func (t *target) oneHot(ctx context.Context, x []int32, which []int, u *float64,
	grad []float64) error {
	tokens := t.tokens(x)
	mean, g, err := t.gradient(ctx, t.promptOf(tokens), which)
	if err != nil {
		return err
	}
	*u = mean
	d := t.prompts.Dimension()
	var all sync.WaitGroup
	for i := range x {
		dst, by := grad[t.dom.GradOffset(i):][:len(t.vocab)], g[i*d:(i+1)*d]
		all.Go(func() {
			for v, id := range t.vocab {
				s := float32(0)
				for j, e := range t.prompts.Embedding(id) {
					s += e * by[j]
				}
				dst[v] = t.beta * float64(s)
			}
		})
	}
	all.Wait()
	return nil
}

// draw picks different sentences of the training part, ascending.
func (r *run) draw(rng *rand.Rand, batch int) []int {
	which := rng.Perm(len(r.train))[:min(batch, len(r.train))]
	slices.Sort(which)
	return which
}

// tokens is a state as token ids.
func (r *run) tokens(x []int32) []int32 {
	out := make([]int32, len(x))
	for i, v := range x {
		out[i] = r.vocab[v]
	}
	return out
}

// promptOf is the vectors of tokens.
func (r *run) promptOf(tokens []int32) []float32 {
	var out []float32
	for _, id := range tokens {
		out = append(out, r.prompts.Embedding(id)...)
	}
	return out
}

// gradient is the mean of the objective over sentences of the training part, and its gradient
// with respect to a prompt.
func (r *run) gradient(ctx context.Context, prompt []float32, which []int) (float64, []float32,
	error) {
	labels := len(r.words)
	rows := make([]PromptRow, 0, len(which)*labels)
	for _, n := range which {
		s := &r.train[n]
		for c, w := range r.words {
			if r.kind == Word && c != s.label {
				continue
			}
			rows = append(rows, PromptRow{IDs: s.ids, Blanks: s.blanks, Ask: s.ask, Target: w})
		}
	}
	lp, g := make([]float32, len(rows)), make([][]float32, len(rows))
	for n := range g {
		g[n] = make([]float32, len(prompt))
	}
	if err := r.prompts.Gradient(ctx, rows, prompt, lp, g); err != nil {
		return 0, nil, err
	}
	mean, sum := 0.0, make([]float64, len(prompt))
	for at, n := 0, 0; at < len(rows); n++ {
		logp, label := []float64{float64(lp[at])}, 0
		if r.kind == Share {
			logp, label = make([]float64, labels), r.train[which[n]].label
			for c := range logp {
				logp[c] = float64(lp[at+c])
			}
		}
		v, d := r.value(logp, label)
		mean += v / float64(len(which))
		for c, w := range d {
			w /= float64(len(which))
			for j, x := range g[at+c] {
				sum[j] += w * float64(x)
			}
		}
		at += len(logp)
	}
	out := make([]float32, len(sum))
	for j, v := range sum {
		out[j] = float32(v)
	}
	return mean, out, nil
}
