package infill

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"infill/mlm"
)

// starts makes the first states of n chains, as Options.Start says, from what the model says with
// all blanks masked. StartMasked draws every coordinate by itself from that. Where constraints tie
// coordinates together, states that break them are drawn again.
func (t *target) starts(ctx context.Context, opt *Options, id string, n int) ([][]int32, error) {
	m := len(t.coords)
	logp, err := t.allMasked(ctx)
	if err != nil {
		return nil, err
	}
	t.prior = make([][]float64, m)
	// Cumulative weights per coordinate: every chain then draws by bisection.
	cum := make([][]float64, m)
	for i, lp := range logp {
		if t.coords[i].slot < 0 {
			t.prior[i] = make([]float64, len(lp))
			for v := range lp {
				t.prior[i][v] = lp[v] * t.temp
			}
		}
		top := slices.Max(lp)
		if math.IsInf(top, 0) || math.IsNaN(top) {
			return nil, fmt.Errorf("blank %d: %w: the model gives probability %v to its best token",
				t.groups[t.coords[i].group].Blanks[0]+1, mlm.ErrNotFinite, math.Exp(top))
		}
		sum := 0.0
		cum[i] = make([]float64, len(lp))
		for v, l := range lp {
			sum += math.Exp(l - top)
			cum[i][v] = sum
		}
	}
	if opt.Start == StartSequential {
		return t.sequential(ctx, opt, id, n, logp)
	}
	return t.begin(opt, id, n, cum, logp)
}

// allMasked is, for every coordinate, the tempered log f of its categories with all blanks masked.
func (t *target) allMasked(ctx context.Context) ([][]float64, error) {
	at, logp := make([]int, len(t.coords)), make([][]float64, len(t.coords))
	for i := range t.coords {
		at[i], logp[i] = i, make([]float64, t.coords[i].k())
	}
	return logp, t.masked(ctx, t.shortest(), at, logp, 0)
}

// shortest returns, once for every coordinate, the state in which each list has
// its shortest phrase: what the others are while one is asked about.
func (t *target) shortest() [][]int32 {
	x := make([]int32, len(t.coords))
	for i := range t.coords {
		for v, p := range t.coords[i].phrases {
			if len(p.IDs) < len(t.coords[i].phrases[x[i]].IDs) {
				x[i] = int32(v)
			}
		}
	}
	all := make([][]int32, len(t.coords))
	for i := range all {
		all[i] = x
	}
	return all
}

// draw fills x with a valid state.
func (t *target) draw(rng *rand.Rand, cum, logp [][]float64, x []int32) error {
	const tries = 16
	for range tries {
		for i, w := range cum {
			r := rng.Float64() * w[len(w)-1]
			x[i] = int32(min(sort.Search(len(w), func(v int) bool { return w[v] > r }), len(w)-1))
		}
		if t.valid(x) {
			return nil
		}
	}
	return t.find(search{target: t, rng: rng, logp: logp}, x)
}

// maxSearch bounds the search for a valid start, in partial states looked at.
const maxSearch = 200_000

// A search fills coordinate after coordinate, likelier categories first but, with a stream, at
// random, and goes back where no category is left.
type search struct {
	*target
	rng     *rand.Rand // nil: nothing is drawn
	logp    [][]float64
	left    int
	deepest int
}

func (s *search) place(i int, x []int32) bool {
	if i == len(x) {
		return s.valid(x)
	}
	s.deepest = max(s.deepest, i)
	// Sorting by log p plus Gumbel noise is drawing without replacement.
	key := make([]float64, len(s.logp[i]))
	order := make([]int32, len(key))
	for v, l := range s.logp[i] {
		order[v] = int32(v)
		key[v] = l + gumbel(s.rng)
	}
	sort.SliceStable(order, func(a, b int) bool { return key[order[a]] > key[order[b]] })
	for _, v := range order {
		if s.left--; s.left < 0 {
			return false
		}
		x[i] = v
		if s.possible(i, x) && s.place(i+1, x) {
			return true
		}
	}
	return false
}
