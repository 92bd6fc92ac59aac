// Package ngram measures how much a set of sentences repeats itself and how much
// of it is new against a reference: unique n-grams, distinct-n, self-repetition
// and the compression ratio. All of it is linear in the number of tokens.
//
// The numbers fall or rise with the number of sentences, so only sets of equal
// size can be compared. Every signature says N.
package ngram

import (
	"errors"
	"fmt"
	"math"

	"infill/metrics/corpus"
)

// Errors and warnings. Compare with errors.Is.
var (
	// errNoNgrams reports a statistic over no n-gram: no sentence is long enough.
	errNoNgrams = errors.New("no sentence is long enough for this n-gram order")
	// errFewSentences reports a statistic that compares sentences with each other
	// on fewer than two of them.
	errFewSentences = errors.New("fewer than two sentences")

	// errOption reports an n-gram order out of range or a reference that is not there.
	errOption = errors.New("bad n-gram option")
	// ErrVocab reports corpora that do not share one corpus.Vocab. Package bleu has the same.
	ErrVocab = errors.New("corpora with different vocabularies cannot be compared: read them with " +
		"one shared Vocab")
)

// MaxOrder is the highest n-gram order, so that a slip of the keyboard does not exhaust memory.
const MaxOrder = 64

func checkOrder(n int) error {
	if n < 1 || n > MaxOrder {
		return fmt.Errorf("%w: order %d, want 1 to %d", errOption, n, MaxOrder)
	}
	return nil
}

// Counts are the n-gram statistics of one order over a set of sentences.
type Counts struct {
	N        int   // order, at least 1
	Total    int64 // n-grams, with repetitions
	Distinct int64 // different n-grams
	Once     int64 // n-grams with count exactly 1
	// Entropy is the entropy of the distribution of the n-grams, −Σ p·log p in nats, 0 for none (Ent-n
	// of Zhang et al., NeurIPS 2018).
	Entropy float64
	// Absent is the number of different n-grams that each reference lacks, in the
	// order the references were given.
	Absent []int64
}

// DistinctRatio is distinct-n: Distinct ÷ Total, in [0,1] (Li et al. 2016).
func (c Counts) DistinctRatio() (float64, error) { return c.ratio(c.Distinct) }

// UniqueSelf is the share of n-gram tokens whose n-gram occurs exactly once in
// the set: Once ÷ Total, in [0,1] (Wang & Cho 2019; DLP, Table 3).
func (c Counts) UniqueSelf() (float64, error) { return c.ratio(c.Once) }

// UniqueReference is the number of different generated n-grams that reference r lacks, divided by
// all generated n-gram tokens, in [0,1] (Wang & Cho 2019). References count from 0. Errors, here
// and in the other shares: errNoNgrams, and errOption for a reference that Count was not given.
func (c Counts) UniqueReference(r int) (float64, error) {
	if r < 0 || r >= len(c.Absent) {
		return math.NaN(), fmt.Errorf("%w: reference %d, counted from 0, of %d", errOption, r,
			len(c.Absent))
	}
	return c.ratio(c.Absent[r])
}

func (c Counts) ratio(part int64) (float64, error) {
	if c.Total == 0 {
		return math.NaN(), fmt.Errorf("%d-grams: %w", c.N, errNoNgrams)
	}
	return float64(part) / float64(c.Total), nil
}

// Count returns the statistics of orders 1 to order, against any number of
// reference indices, which must share the corpus's vocabulary and have at least
// that order. The order is at most MaxOrder. Errors: errOption, ErrVocab. A nil corpus is empty.
func Count(c *corpus.Corpus, order int, refs ...*Index) ([]Counts, error) {
	if err := checkOrder(order); err != nil {
		return nil, err
	}
	if c == nil {
		c = corpus.New(nil, nil)
	}
	ms := make([]*Matcher, len(refs))
	for r, x := range refs {
		switch {
		case x == nil:
			return nil, fmt.Errorf("%w: reference %d is nil; make it with NewIndex", errOption, r+1)
		case x.vocab != c.Vocab():
			return nil, ErrVocab
		case x.order < order:
			return nil, fmt.Errorf("%w: reference %d is indexed to order %d, asked for %d", errOption, r+1,
				x.order, order)
		}
		ms[r] = x.NewMatcher()
	}
	levels := NewLevels(c)
	out := make([]Counts, order)
	known := make([][]bool, len(refs))
	for n := 1; n <= order; n++ {
		ids, numbers := levels.Next()
		k := Counts{N: n, Absent: make([]int64, len(refs))}
		seen := make([]uint32, numbers+1) // how often an n-gram was met
		for i, sentences := 0, c.Len(); i < sentences; i++ {
			start, end := c.Bounds(i)
			if end-start < n {
				continue
			}
			for r := range ms {
				known[r] = ms[r].Known(c.Sentence(i), n, known[r])
			}
			for p := start; p <= end-n; p++ {
				k.Total++
				id := ids[p]
				switch {
				case id == Single || seen[id] == 0:
					k.Distinct++
					k.Once++
					for r := range known {
						if !known[r][p-start] {
							k.Absent[r]++
						}
					}
				case seen[id] == 1:
					k.Once--
				}
				if id != Single {
					seen[id]++
				}
			}
		}
		k.Entropy = entropy(seen, k.Total)
		out[n-1] = k
	}
	return out, nil
}

// entropy is the entropy of n-grams with these counts among all of them: log N − Σ c·log c / N.
// Those that occur once add nothing to the sum, and need not be among the counts.
func entropy(counts []uint32, all int64) float64 {
	if all == 0 {
		return 0
	}
	sum := 0.0
	for _, c := range counts {
		if c > 1 {
			sum += float64(c) * math.Log(float64(c))
		}
	}
	return math.Log(float64(all)) - sum/float64(all)
}

// SelfRepetition is the mean over the sentences of ln(1 + r), where r is the
// number of other sentences that share an n-gram with this one, summed over its
// different n-grams (Salkar et al. 2022 as Shaib et al. 2024 compute it. They use
// n = 4). It is 0 when no n-gram is shared and has no upper bound.
func SelfRepetition(c *corpus.Corpus, n int) (float64, error) {
	if err := checkOrder(n); err != nil {
		return math.NaN(), err
	}
	if c == nil {
		c = corpus.New(nil, nil)
	}
	if c.Len() < 2 {
		return math.NaN(), fmt.Errorf("self-repetition of %d sentences: %w", c.Len(), errFewSentences)
	}
	levels := NewLevels(c)
	var ids []uint32
	var numbers int
	for range n {
		ids, numbers = levels.Next()
	}
	// sentences[id]: in how many sentences the n-gram occurs.
	sentences := make([]uint32, numbers+1)
	last := make([]uint32, numbers+1)
	each := func(visit func(s uint32, id uint32)) (total int64) {
		clear(last)
		for i := range c.Len() {
			start, end := c.Bounds(i)
			for p := start; p <= end-n; p++ {
				total++
				if id := ids[p]; id != Single && last[id] != uint32(i)+1 {
					last[id] = uint32(i) + 1
					visit(uint32(i), id)
				}
			}
		}
		return total
	}
	if each(func(_, id uint32) { sentences[id]++ }) == 0 {
		return math.NaN(), fmt.Errorf("self-repetition, %d-grams: %w", n, errNoNgrams)
	}
	shared := make([]float64, c.Len())
	each(func(s, id uint32) { shared[s] += float64(sentences[id] - 1) })
	sum := 0.0
	for _, r := range shared {
		sum += math.Log1p(r)
	}
	return sum / float64(c.Len()), nil
}
