package infill

import (
	"context"
	"slices"
	"sort"

	"infill/infill/internal/recall"
	"infill/samplers"
)

// DefaultShortlist is the number of candidates per coordinate from which the
// samplers that evaluate the energy of every neighbour choose, unless
// Options.Shortlist says otherwise. With the whole vocabulary a single step
// would take tens of thousands of evaluations.
const DefaultShortlist = 16

// shortlist is the number of candidates per coordinate; 0 stands for all that
// the blanks allow.
func (o *Options) shortlist() int {
	if o.Shortlist != 0 || o.NoShortlist {
		return o.Shortlist
	}
	if samplers.InfoOf(o.Sampler).Enumerates {
		return DefaultShortlist
	}
	return 0
}

// restrict keeps, of every coordinate, the n categories that are likeliest
// with all blanks masked. The set is fixed before the first step, so that what
// a sampler leaves invariant is π on the states made of these candidates.
func (t *target) restrict(ctx context.Context, n int) error {
	m := len(t.Coords)
	logp := make([][]float64, m)
	at := make([]int, m)
	for i := range t.Coords {
		logp[i], at[i] = make([]float64, t.Coords[i].K()), i
	}
	if err := t.masked(ctx, t.Shortest(), at, logp, 0); err != nil {
		return err
	}
	keep := make([][]int, m)
	for i := range keep {
		all := make([]int, t.Coords[i].K())
		for v := range all {
			all[v] = v
		}
		sort.SliceStable(all, func(a, b int) bool { return logp[i][all[a]] > logp[i][all[b]] })
		keep[i] = all[:min(n, len(all))]
		slices.Sort(keep[i])
	}
	if err := t.Keep(keep); err != nil {
		return err
	}
	t.model = t.model.Keeping(recall.NewKept(t.TokenSets(), t.model.VocabSize()))
	return nil
}
