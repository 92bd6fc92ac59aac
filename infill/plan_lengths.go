package infill

import (
	"infill/infill/text"
	"infill/samplers"
)

// countsOf is the number of tokens of each group: for every chain, or of a search for every choice
// of lengths.
func (p *plan) countsOf(lists [][]text.Phrase) [][]int {
	groups := p.t.Groups
	var open []int // groups whose lengths are
	for g := range groups {
		if lists[g] == nil && groups[g].Max > groups[g].Min {
			open = append(open, g)
			p.open = true
			p.lengths = min(p.lengths*(groups[g].Max-groups[g].Min+1), 1<<30)
		}
	}
	n := p.opt.Sampling.Chains
	if p.opt.Method == MethodSearch {
		n = min(p.lengths, maxLengths)
	}
	counts := make([][]int, n)
	for k := range counts {
		counts[k] = make([]int, len(groups))
		for g := range groups {
			counts[k][g] = groups[g].Min
		}
	}
	for _, g := range open {
		if p.opt.Method != MethodSearch {
			p.drawLengths(counts, g)
		}
	}
	if p.opt.Method == MethodSearch {
		for k := range counts {
			number := k * p.lengths / n // spread over all, if there are more
			for _, g := range open {
				some := groups[g].Max - groups[g].Min + 1
				counts[k][g] += number % some
				number /= some
			}
		}
	}
	return counts
}

// drawLengths draws the number of tokens of a group for every chain. It is uniform, and the first n
// chains have all n lengths, as have the next n: the draws are stratified.
func (p *plan) drawLengths(counts [][]int, g int) {
	least, n := p.t.Groups[g].Min, p.t.Groups[g].Max-p.t.Groups[g].Min+1
	rng := samplers.NewStream(p.opt.Seed, p.opt.ID+"\x00length", g)
	var perm []int
	for k := range counts {
		if k%n == 0 {
			perm = rng.Perm(n)
		}
		counts[k][g] = least + perm[k%n]
	}
}
