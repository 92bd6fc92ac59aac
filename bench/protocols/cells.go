package main

import "slices"

// cells are runs by sampler, sentence and seed, as far as they are complete.
type cells struct {
	samplers, sentences []string
	seeds               []uint64
	runs                map[key]record // by sampler, sentence and seed
}

// newCells keeps the seeds that any sentence has with every sampler, and the sentences that have
// a run of every sampler with these seeds.
func newCells(rs []record, order []string) *cells {
	c := &cells{samplers: slices.Clone(order), runs: map[key]record{}}
	var sentences []string
	var seeds []uint64
	for _, r := range rs {
		c.runs[key{Sampler: r.Sampler, Sentence: r.Sentence, Seed: r.Seed}] = r
		if !slices.Contains(c.samplers, r.Sampler) {
			c.samplers = append(c.samplers, r.Sampler)
		}
		if !slices.Contains(sentences, r.Sentence) {
			sentences = append(sentences, r.Sentence)
		}
		if !slices.Contains(seeds, r.Seed) {
			seeds = append(seeds, r.Seed)
		}
	}
	whole := func(sentence string, seed uint64) bool {
		for _, s := range c.samplers {
			if _, ok := c.runs[key{Sampler: s, Sentence: sentence, Seed: seed}]; !ok {
				return false
			}
		}
		return true
	}
	slices.Sort(seeds)
	for _, seed := range seeds {
		if slices.ContainsFunc(sentences, func(s string) bool { return whole(s, seed) }) {
			c.seeds = append(c.seeds, seed)
		}
	}
	for _, s := range sentences {
		if !slices.ContainsFunc(c.seeds, func(seed uint64) bool { return !whole(s, seed) }) {
			c.sentences = append(c.sentences, s)
		}
	}
	return c
}
