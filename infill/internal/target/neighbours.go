package target

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"infill/samplers"
)

var _ samplers.RatioEstimator = (*Target)(nil)

// affordable is the most neighbours whose ratios are estimated unasked. Each is about as
// much work as a Taylor estimate of all.
const affordable = 16

// RatioKind implements samplers.RatioEstimator.
func (t *Target) RatioKind() (ofMeans, cheap bool) {
	n := 0
	for i := range t.Coords {
		n += t.Product.Support(i) - 1
	}
	return false, n <= affordable
}

// EstimateRatios implements samplers.RatioEstimator. U is a sum of one term U_i per
// coordinate, the sum of log f over the tokens that it decides. For a random subset S of b
// of the n coordinates,
//
//	log π̂(y) − log π̂(x) = n/b · Σ_{i∈S} [U_i(y) − U_i(x)]
//
// with the terms evaluated at every neighbour y. A neighbour costs a row for each token of S,
// the present state as much once. Neighbours that break a constraint have −∞.
func (t *Target) EstimateRatios(ctx context.Context, x [][]int32, batch int,
	rng []*rand.Rand, logRatio, _ [][]float64) error {
	m := t.Model.Counting()
	type request struct{ k, entry int } // entry −1: the state itself
	var asked []request
	t.reset()
	scale, here := make([]float64, len(x)), make([]float64, len(x))
	for k := range x {
		clear(logRatio[k])
		n := len(t.Coords)
		subset := rng[k].Perm(n)[:min(batch, n)]
		scale[k] = float64(n) / float64(len(subset)) / t.Temp
		different := map[string]bool{}
		ask := func(y []int32, entry int) {
			l := t.LayoutOf(y, nil)
			b, state := t.bucket(l), t.Tokens(nil, l, y, -1, -1)
			for _, i := range subset {
				for _, blank := range t.MasksOf(i, l) {
					b.who = append(b.who, len(asked))
					b.states, b.blanks = append(b.states, state), append(b.blanks, blank)
					asked = append(asked, request{k: k, entry: entry})
					if key := t.Model.Key(l.Sentence, state, blank); !different[key] {
						different[key] = true
						t.Asked += t.Model.NoteRow(l.Sentence, state, blank)
					}
				}
			}
		}
		ask(x[k], -1)
		t.neighbours(x[k], logRatio[k], ask)
	}
	err := t.each(ctx, func(ctx context.Context, b *bucket) error {
		b.logProb = resized(b.logProb, 1, len(b.states))
		return m.TokenLogProb(ctx, b.lay.Sentence, b.states, b.blanks, b.logProb[0])
	})
	if err != nil {
		return err
	}
	for _, b := range t.buckets {
		for j, r := range b.who {
			q := asked[r]
			if term := scale[q.k] * float64(b.logProb[0][j]); q.entry < 0 {
				here[q.k] += term
			} else {
				logRatio[q.k][q.entry] += term
			}
		}
	}
	for k := range x {
		for i, v := range x[k] {
			for w := range t.Product.K(i) {
				if int32(w) != v {
					logRatio[k][t.Product.GradOffset(i)+w] -= here[k]
				}
			}
		}
	}
	return nil
}

// neighbours asks about every neighbour of a state that may be, with its entry in a gradient. The
// entries of others are −∞.
func (t *Target) neighbours(x []int32, logRatio []float64, ask func(y []int32, entry int)) {
	y := slices.Clone(x)
	for i := range t.Coords {
		for v := range t.Product.K(i) {
			y[i] = int32(v)
			switch entry := t.Product.GradOffset(i) + v; {
			case y[i] == x[i]:
			case !t.Valid(y):
				logRatio[entry] = math.Inf(-1)
			default:
				ask(y, entry)
			}
		}
		y[i] = x[i]
	}
}
