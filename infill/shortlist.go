package infill

import (
	"context"
	"slices"
	"sort"

	"infill/infill/internal/text"
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
	m := len(t.coords)
	logp := make([][]float64, m)
	at := make([]int, m)
	for i := range t.coords {
		logp[i], at[i] = make([]float64, t.coords[i].k()), i
	}
	if err := t.masked(ctx, t.shortest(), at, logp, 0); err != nil {
		return err
	}
	dims := make([]samplers.Coord, m)
	for i := range t.coords {
		c := &t.coords[i]
		keep := make([]int, c.k())
		for v := range keep {
			keep[v] = v
		}
		sort.SliceStable(keep, func(a, b int) bool { return logp[i][keep[a]] > logp[i][keep[b]] })
		keep = keep[:min(n, len(keep))]
		slices.Sort(keep)
		// The lists of a space are shared: they are replaced, never changed.
		var ids []int32
		var phrases []text.Phrase
		for _, v := range keep {
			if c.slot < 0 {
				phrases = append(phrases, c.phrases[v])
			} else {
				ids = append(ids, c.ids[v])
			}
		}
		c.ids, c.phrases = ids, phrases
		if c.slot < 0 {
			c.lengths = lengthsOf(phrases)
		}
		dims[i] = samplers.Coord{Kind: samplers.Nominal, K: c.k()}
	}
	var err error
	t.domain, err = samplers.NewDomain(dims...)
	t.model = t.model.keeping(newKept(t.tokenSets(), t.model.VocabSize()))
	return err
}
