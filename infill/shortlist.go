package infill

import (
	"context"
	"slices"
	"sort"
)

// DefaultShortlist is the number of candidates per coordinate from which the
// samplers that evaluate the energy of every neighbour choose, unless
// Options.Sampling.Shortlist says otherwise. With the whole vocabulary a single step
// would take tens of thousands of evaluations.
const DefaultShortlist = 16

// shortlist is the number of candidates per coordinate; 0 stands for all that
// the blanks allow.
func (o *Options) shortlist() int {
	if o.Sampling.Shortlist == 0 && !o.Sampling.NoShortlist && o.sampler().Enumerates {
		return DefaultShortlist
	}
	return o.Sampling.Shortlist
}

// restrict keeps, of every coordinate, the n categories that are likeliest
// with all blanks masked. The set is fixed before the first step, so that what
// a sampler leaves invariant is π on the states made of these candidates.
func (t *target) restrict(ctx context.Context, n int) error {
	logp, err := t.allMasked(ctx)
	if err != nil {
		return err
	}
	keep := make([][]int, len(t.Coords))
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
	t.model = t.model.Keeping(t.TokenSets())
	return nil
}
