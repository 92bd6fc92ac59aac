package protocols

import "slices"

// cells are runs by sampler, sentence and seed, as far as they are complete, with the states that
// count.
type cells struct {
	samplers, sentences []string
	seeds               []uint64
	runs                map[key]record // by sampler, sentence and seed
}

// newCells keeps the first seeds, and the sentences that every sampler filled with all of them: as
// many of both as give the most runs, and of equally many the most sentences.
func newCells(rs []record, order []string) *cells {
	c := &cells{samplers: slices.Clone(order), runs: map[key]record{}}
	var sentences []string
	var seeds []uint64
	for _, r := range rs {
		c.runs[key{Sampler: r.Sampler, Sentence: r.Sentence, Seed: r.Seed}] = r.drawn()
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
	most := 0
	for n := range seeds {
		first := seeds[:n+1]
		whole := slices.DeleteFunc(slices.Clone(sentences), func(sentence string) bool {
			return slices.ContainsFunc(first, func(seed uint64) bool { return !whole(sentence, seed) })
		})
		if runs := len(whole) * len(first); runs > most {
			most, c.sentences, c.seeds = runs, whole, first
		}
	}
	return c
}
