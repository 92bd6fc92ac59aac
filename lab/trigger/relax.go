package trigger

import (
	"context"
	"math"
	"math/rand/v2"
)

// relax is the baseline, continuous relaxation: vectors in the place of tokens, from the start
// of every chain of the search, moved by Adam (Kingma and Ba 2015, with its defaults but the
// rate) along the gradients of as many mini-batches. Every so often they are read as the nearest
// tokens. It returns the best reading, chosen as the search chooses, and the vectors at the end
// of the first chain.
func (r *run) relax(ctx context.Context, starts [][]int32) (*best, []float32, error) {
	found := r.newBest()
	var first []float32
	rate := r.o.LearningRate * r.spread()
	for k, start := range starts {
		rng := rand.New(rand.NewPCG(r.o.Seed, 0x72656c6178+uint64(k)))
		v := r.promptOf(r.tokens(start))
		m, s := make([]float64, len(v)), make([]float64, len(v))
		for step := range r.o.Steps {
			_, g, err := r.gradient(ctx, v, r.draw(rng, r.o.Batch))
			if err != nil {
				return found, first, err
			}
			n := float64(step + 1)
			c1, c2 := 1-math.Pow(0.9, n), 1-math.Pow(0.999, n)
			for j, x := range g {
				x := float64(x)
				m[j] = 0.9*m[j] + 0.1*x
				s[j] = 0.999*s[j] + 0.001*x*x
				v[j] += float32(rate * (m[j] / c1) / (math.Sqrt(s[j]/c2) + 1e-8))
			}
			if (step+1)%every == 0 || step+1 == r.o.Steps {
				if err := found.try(ctx, r.nearest(v)); err != nil {
					return found, first, err
				}
			}
			r.report(Progress{Phase: "relaxation", Step: k*r.o.Steps + step + 1,
				Steps: r.o.Chains * r.o.Steps, Best: found.value,
				Trigger: r.found(found.tokens).Trigger})
		}
		if k == 0 {
			first = v
		}
	}
	return found, first, nil
}

// spread is the root of the mean square of the words' embeddings around their mean.
func (r *run) spread() float64 {
	d := r.prompts.Dimension()
	mean, square := make([]float64, d), 0.0
	for _, id := range r.vocab {
		for j, e := range r.prompts.Embedding(id) {
			mean[j] += float64(e)
			square += float64(e) * float64(e)
		}
	}
	n := float64(len(r.vocab))
	for _, m := range mean {
		square -= m * m / n
	}
	return math.Sqrt(max(square, 0) / n / float64(d))
}

// nearest reads vectors as the tokens whose embeddings are nearest, by Euclidean distance.
func (r *run) nearest(v []float32) []int32 {
	d := r.prompts.Dimension()
	out := make([]int32, len(v)/d)
	for i := range out {
		least := math.Inf(1)
		for _, id := range r.vocab {
			sum := 0.0
			for j, e := range r.prompts.Embedding(id) {
				x := float64(e - v[i*d+j])
				sum += x * x
			}
			if sum < least {
				least, out[i] = sum, id
			}
		}
	}
	return out
}

// soft scores rows with vectors in the place of tokens.
func (r *run) soft(ctx context.Context, rows []row, vectors []float32) (Measure, error) {
	found := make([][]float64, len(rows))
	for n := range found {
		found[n] = make([]float64, len(r.words))
	}
	lp := make([]float32, len(rows))
	for c, w := range r.words {
		asked := make([]PromptRow, len(rows))
		for n, s := range rows {
			asked[n] = PromptRow{IDs: s.ids, Blanks: s.blanks, Ask: s.ask, Target: w}
		}
		if err := r.prompts.LogProb(ctx, asked, vectors, lp); err != nil {
			return Measure{}, err
		}
		for n, v := range lp {
			found[n][c] = float64(v)
		}
	}
	return r.measure(rows, found), nil
}
