package infill

import (
	"cmp"
	"math"
	"slices"

	"infill/infill/internal/search"
	"infill/infill/text"
	"infill/samplers"
)

// perPiece is c of the part for a length in a score, log P(n | text) + c·n: a score loses nats with
// each piece, more than longer fillings are worse.
const perPiece = 0.75

// openLengths are the groups of a template whose lengths are open, and how likely each length is.
type openLengths struct {
	t        *text.Template
	opt      *Options
	groups   []int
	shares   [][]float64 // of a group: log P of each length, from the shortest, in nats
	combined int         // how many different lengths all groups can have together
	parts    [][]float64 // of a group with n tokens: what they add to a score; nil where nothing
	from     string      // Result.Lengths
	rows     int         // rows of the model that reading them took
	perToken bool        // the score per token ranks
}

const (
	// maxLengths bounds the combinations of lengths that a search looks at.
	maxLengths = 128
	// leastShare is how likely a length must be, beside the likeliest, for chains to draw it where
	// words are counted. A search has [search.LeastShare].
	leastShare = 0.02
)

// A choice is a number of tokens for each group of a template.
type choice struct {
	counts []int
	logP   float64 // how likely the open lengths among them are, in nats
	// unlikely lengths are begun only where no likelier ones have fillings.
	unlikely bool
}

// choices are the lengths of every chain, or the lengths that a search looks at, likeliest first.
func (o *openLengths) choices() []choice {
	shortest := choice{counts: make([]int, len(o.t.Groups))}
	for g := range o.t.Groups {
		shortest.counts[g] = o.t.Groups[g].Min
	}
	if o.opt.Method == MethodSearch {
		return o.likelyLengths(shortest)
	}
	out := make([]choice, o.opt.Sampling.Chains)
	for k := range out {
		out[k].counts = slices.Clone(shortest.counts)
	}
	for _, g := range o.groups {
		o.drawLengths(out, g)
	}
	return out
}

// likelyLengths are the likeliest combinations of the open lengths. A combination for some gaps
// that is not among the likeliest is not with further gaps either.
func (o *openLengths) likelyLengths(shortest choice) []choice {
	out := []choice{shortest}
	for _, g := range o.groups {
		var longer []choice
		for _, c := range out {
			for i, logP := range o.shares[g] {
				counts := slices.Clone(c.counts)
				counts[g] += i
				longer = append(longer, choice{counts: counts, logP: c.logP + logP})
			}
		}
		slices.SortStableFunc(longer, func(a, b choice) int { return cmp.Compare(b.logP, a.logP) })
		out = longer[:min(len(longer), maxLengths)]
	}
	least := out[0].logP + math.Log(search.LeastShare(o.opt.Search.Effort))
	for i, c := range out {
		// All fillings of one token of the only blank take one row.
		row := len(o.t.Blanks) == 1 && c.counts[0] == 1
		out[i].unlikely = c.logP < least && !row
	}
	return out
}

// drawable are the numbers of tokens that chains can have of a group: all, or where words are
// counted the likely ones.
func (o *openLengths) drawable(g int) []int {
	var out []int
	top := slices.Max(o.shares[g])
	for i, logP := range o.shares[g] {
		if o.t.Groups[g].MaxWords == 0 || logP >= top+math.Log(leastShare) {
			out = append(out, o.t.Groups[g].Min+i)
		}
	}
	return out
}

// drawLengths draws the number of tokens of a group for every chain. It is uniform, and the first n
// chains have all n lengths, as have the next n: the draws are stratified.
func (o *openLengths) drawLengths(all []choice, g int) {
	lengths := o.drawable(g)
	rng := samplers.NewStream(o.opt.Seed, o.opt.ID+"\x00length", g)
	var perm []int
	for k := range all {
		if k%len(lengths) == 0 {
			perm = rng.Perm(len(lengths))
		}
		all[k].counts[g] = lengths[perm[k%len(lengths)]]
	}
}
