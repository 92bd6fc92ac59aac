package target

import (
	"context"
	"slices"
	"sort"
)

// Restrict keeps, of every coordinate, the n categories that are likeliest
// with all blanks masked. The set is fixed before the first step, so that what
// a sampler leaves invariant is π on the states made of these candidates.
func (t *Target) Restrict(ctx context.Context, n int) error {
	logp, err := t.AllMasked(ctx)
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
	t.Model = t.Model.Keeping(t.TokenSets())
	return nil
}
