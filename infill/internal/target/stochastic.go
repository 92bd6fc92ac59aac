package target

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"infill/infill/internal/recall"
	"infill/infill/internal/space"
	"infill/internal/gate"
	"infill/mlm"
	"infill/samplers"
)

var _ samplers.StochasticGradienter = (*Target)(nil)

// StochasticGrad implements samplers.StochasticGradienter. U is a sum of one
// term log f_i per masked token i = 1..M. A random subset S of b terms is
// evaluated, each with the other tokens of S as the variables. The estimates
//
//	Û      = M/b · Σ_{i∈S} log f_i
//	∇Û_j   = M/b · log f(· | j masked) + M(M−1)/(b(b−1)) · E·Σ_{i∈S, i≠j} ∂log f_i/∂e_j   for j ∈ S
//	∇Û_j   = 0                                                                            for j ∉ S
//
// are unbiased: a token is in S with probability b/M and a pair of them
// with probability b(b−1)/(M(M−1)). It costs b rows instead of M, once with and
// once without the backward pass. Estimates of pairs need b of 2 or more.
//
// States that break a constraint on several blanks together cannot be refused
// by a sampler that evaluates no energy, so such templates are not supported.
func (t *Target) StochasticGrad(ctx context.Context, x [][]int32, batch int, rng []*rand.Rand,
	u []float64, grad [][]float64) error {
	if t.Tied() {
		return fmt.Errorf("%w: constraints between blanks (no word twice, blanks of several tokens) "+
			"need a sampler that evaluates energies, such as dmala, or sgdld with rates from ratios",
			samplers.ErrUnsupported)
	}
	asked := t.Model.Counting()
	layouts, subsets := make([]*space.Layout, len(x)), make([][]int, len(x))
	for k := range x {
		l := t.LayoutOf(x[k], nil) // fills a cache: not at the same time
		n := len(l.Sentence.Blanks)
		b := min(max(batch, 2), n)
		if n == 1 {
			b = 1
		}
		s := rng[k].Perm(n)[:b]
		slices.Sort(s)
		layouts[k], subsets[k] = l, s
		sub, state := t.part(x[k], l, s)
		t.Asked += t.Model.NoteRows(sub, state)
		if t.Mode == mlm.Full && b > 1 { // once without and once with the backward pass
			t.Asked += t.Model.NoteGradient(sub, state, mlm.Full)
		}
	}
	return gate.Each(ctx, len(x), func(ctx context.Context, k int) (err error) {
		u[k], err = t.Estimate(ctx, asked, x[k], layouts[k], subsets[k], grad[k])
		return err
	})
}

// part is the sentence in which only the masked tokens in s, ascending, are blanks, with their
// state.
func (t *Target) part(x []int32, l *space.Layout, s []int) (sub *mlm.Sentence, state []int32) {
	all := t.Tokens(nil, l, x, -1, -1)
	sub = &mlm.Sentence{IDs: slices.Clone(l.Sentence.IDs)}
	for i, p := range l.Sentence.Blanks {
		if slices.Contains(s, i) {
			sub.Blanks = append(sub.Blanks, p)
			state = append(state, all[i])
			continue
		}
		sub.IDs[p] = all[i]
	}
	return sub, state
}

// Estimate evaluates the terms of the masked tokens in s, ascending.
func (t *Target) Estimate(ctx context.Context, from *recall.Recall, x []int32, l *space.Layout,
	s []int, grad []float64) (float64, error) {
	m, b, vocab := len(l.Sentence.Blanks), len(s), t.Model.VocabSize()
	sub, state := t.part(x, l, s)
	states := [][]int32{state}
	logProb := resized[float32](nil, 1, b)
	full, first := resized[float32](nil, 1, b*vocab), resized[float32](nil, 1, b*vocab)
	if err := from.Gradient(ctx, sub, states, mlm.Forward, logProb, first); err != nil {
		return 0, err
	}
	if t.Mode == mlm.Full && b > 1 {
		if err := from.Gradient(ctx, sub, states, mlm.Full, logProb, full); err != nil {
			return 0, err
		}
	} else {
		copy(full[0], first[0])
	}
	one, two := float32(m)/float32(b), float32(0)
	if b > 1 {
		two = float32(m*(m-1)) / float32(b*(b-1))
	}
	wide := make([]float32, m*vocab)
	for j, i := range s {
		row := wide[i*vocab : (i+1)*vocab]
		f, g := first[0][j*vocab:(j+1)*vocab], full[0][j*vocab:(j+1)*vocab]
		for v := range row {
			row[v] = one*f[v] + two*(g[v]-f[v])
		}
	}
	for i := range t.Coords {
		t.gradient(grad[t.Product.GradOffset(i):], i, x[i], l, wide)
	}
	return float64(one) * total(logProb[0]) / t.Temp, nil
}
