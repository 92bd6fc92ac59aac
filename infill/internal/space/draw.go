package space

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"infill/mlm"
)

// Likeliest is the state of StartArgmax.
func (sp *Space) Likeliest(logp [][]float64) ([]int32, error) {
	x := make([]int32, len(sp.Coords))
	for i, lp := range logp {
		x[i] = int32(slices.Index(lp, slices.Max(lp))) // all are numbers, see Finite
	}
	if sp.Valid(x) {
		return x, nil
	}
	return x, sp.Find(nil, logp, x)
}

// Shortest returns, once for every coordinate, the state in which each list has
// its shortest phrase: what the others are while one is asked about.
func (sp *Space) Shortest() [][]int32 {
	x := make([]int32, len(sp.Coords))
	for i := range sp.Coords {
		for v, p := range sp.Coords[i].Phrases {
			if len(p.IDs) < len(sp.Coords[i].Phrases[x[i]].IDs) {
				x[i] = int32(v)
			}
		}
	}
	all := make([][]int32, len(sp.Coords))
	for i := range all {
		all[i] = x
	}
	return all
}

// Draw fills x with a valid state.
func (sp *Space) Draw(rng *rand.Rand, cum, logp [][]float64, x []int32) error {
	const tries = 16
	for range tries {
		for i, w := range cum {
			r := rng.Float64() * w[len(w)-1]
			x[i] = int32(min(sort.Search(len(w), func(v int) bool { return w[v] > r }), len(w)-1))
		}
		if sp.Valid(x) {
			return nil
		}
	}
	return sp.Find(rng, logp, x)
}

// Uniform draws a state of StartRandom.
func (sp *Space) Uniform(rng *rand.Rand) ([]int32, error) {
	const tries = 10_000
	x := make([]int32, len(sp.Coords))
	for range tries {
		for i := range sp.Coords {
			x[i] = int32(rng.IntN(sp.Coords[i].K()))
		}
		if sp.Valid(x) {
			return x, nil
		}
	}
	flat := make([][]float64, len(sp.Coords))
	for i := range flat {
		flat[i] = make([]float64, sp.Coords[i].K())
	}
	return x, sp.Find(rng, flat, x)
}

// Finite refuses a row of the model in which no token has a probability.
func (sp *Space) Finite(i int, logp []float64) error {
	if top := slices.Max(logp); math.IsInf(top, 0) || math.IsNaN(top) {
		return fmt.Errorf("blank %d: %w: the model gives probability %v to its best token",
			sp.Groups[sp.Coords[i].Group].Blanks[0]+1, mlm.ErrNotFinite, math.Exp(top))
	}
	return nil
}

// Forbid sets the entries of the categories that would make a state invalid to −∞.
func (sp *Space) Forbid(x []int32, i int, logp []float64) {
	if !sp.tied {
		return
	}
	y := slices.Clone(x)
	for v := range logp {
		y[i] = int32(v)
		if !sp.Valid(y) {
			logp[v] = math.Inf(-1)
		}
	}
}

// maxSearch bounds the search for a valid start, in partial states looked at.
const maxSearch = 200_000

// A search fills coordinate after coordinate, likelier categories first but, with a stream, at
// random, and goes back where no category is left.
type search struct {
	*Space
	rng     *rand.Rand // nil: nothing is drawn
	logp    [][]float64
	left    int
	deepest int
}

// Find completes a state by search: likelier categories come first or, with a stream, at random.
func (sp *Space) Find(rng *rand.Rand, logp [][]float64, x []int32) error {
	s := search{Space: sp, rng: rng, logp: logp, left: maxSearch}
	if s.place(0, x) {
		return nil
	}
	g := sp.Coords[s.deepest].Group
	why := "no combination of fillings meets all constraints together; " +
		"let words repeat, ban fewer of them, or let the blanks take more"
	return sp.Template.Unfillable(sp.Groups[g].Blanks[0], why)
}

func (s *search) place(i int, x []int32) bool {
	if i == len(x) {
		return s.Valid(x)
	}
	s.deepest = max(s.deepest, i)
	// Sorting by log p plus Gumbel noise is drawing without replacement. Without a stream there is
	// none.
	key := make([]float64, len(s.logp[i]))
	order := make([]int32, len(key))
	for v, l := range s.logp[i] {
		order[v] = int32(v)
		if key[v] = l; s.rng != nil {
			key[v] -= math.Log(-math.Log(1 - s.rng.Float64()))
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return key[order[a]] > key[order[b]] })
	for _, v := range order {
		if s.left--; s.left < 0 {
			return false
		}
		x[i] = v
		if s.Possible(i, x) && s.place(i+1, x) {
			return true
		}
	}
	return false
}
