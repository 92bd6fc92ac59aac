package bleu

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"infill/metrics/corpus"
	"infill/metrics/ngram"
)

// The variants of self-BLEU.
const (
	pooled = "corpus"
	mean   = "mean"
	firstN = "first"
	group  = "group"
)

// Variants lists the definitions of self-BLEU, the default first:
//
//	corpus  corpus BLEU of each sentence against all the others, which Wang & Cho and DISCS report
//	mean    the mean of the sentences' own BLEU against all the others (Texygen, which smooths with
//	        method1)
//	first   corpus on the first sentences only
//	group   the mean over groups of the pooled self-BLEU inside each group, one group per source
//
// DLP's Table 3 does not say which it has, and cites Texygen.
func Variants() []string { return []string{pooled, mean, firstN, group} }

// SelfOptions are the options of self-BLEU.
type SelfOptions struct {
	Options
	// Variant is one of [Variants]; "" is the default.
	Variant string
	// First is the number of sentences of the variant first, at least 2.
	First int
	// Groups gives each sentence's group for the variant group. Sentences of one group need not
	// be neighbours.
	Groups []int
}

// CheckVariant refuses a variant that does not exist, or lacks its number of sentences. The error
// is [ErrOption].
func (o SelfOptions) CheckVariant() error {
	switch {
	case o.Variant != "" && !slices.Contains(Variants(), o.Variant):
		return fmt.Errorf("%w: self-BLEU variant %q (known: %s)", ErrOption, o.Variant,
			strings.Join(Variants(), ", "))
	case o.Variant == firstN && o.First < 2:
		return fmt.Errorf("%w: self-BLEU of the first %d sentences (want 2 or more)", ErrOption, o.First)
	}
	return nil
}

// Self returns the self-BLEU of a set of at least two sentences. No pairs are
// formed: for each n-gram the two largest counts in one sentence and the owner of
// the largest are kept, and the clip for sentence i is the largest count that i
// does not own. The cost is linear in the number of tokens.
func Self(c *corpus.Corpus, o SelfOptions) (*Result, error) {
	s, err := o.check()
	if err = cmp.Or(err, o.CheckVariant()); err != nil {
		return nil, err
	}
	if c == nil {
		c = corpus.New(nil, nil)
	}
	sig := signature{name: "selfBLEU", agg: "corpus", n: c.Len(), text: c.Pipeline().Signature()}
	switch o.Variant {
	case firstN:
		short := c.Len() < o.First
		have := c.Len()
		c = c.Head(o.First)
		if s.Confidence != nil && len(s.Confidence.Units) == have {
			s.Confidence.Units = s.Confidence.Units[:c.Len()] // check has made a copy
		}
		sig.agg, sig.n = fmt.Sprintf("first%d", o.First), c.Len()
		r, err := selfPooled(c, s, sig)
		if err == nil && short {
			r.Warnings = append(r.Warnings, fmt.Errorf("%w: first %d asked for, only %d there", ErrUnequal,
				o.First, have))
		}
		return r, err
	case mean:
		sig.agg = mean
		return selfMean(c, s, sig)
	case group:
		return selfGroups(c, s, sig, o)
	}
	return selfPooled(c, s, sig)
}

func selfPooled(c *corpus.Corpus, s *settings, sig signature) (*Result, error) {
	st, err := selfStats(c, s.counted)
	if err != nil {
		return nil, err
	}
	return st.finish(s, sig, jackknife(c, sig, selfPooled))
}

// holder is the state of one n-gram: its largest count in a sentence and who owns
// it, the largest count among the others, and the count in the sentence under way.
type holder struct {
	owner, last     uint32 // sentence numbers from 1
	max1, max2, cur int32
}

// selfStats counts every sentence against all the others.
func selfStats(c *corpus.Corpus, orders int) (*stats, error) {
	n := c.Len()
	if n < 2 {
		return nil, fmt.Errorf("%d given: %w", n, errFewSentences)
	}
	st := newStats(c, orders)
	levels := ngram.NewLevels(c)
	for k := 1; k <= orders; k++ {
		ids, numbers := levels.Next()
		held := make([]holder, numbers+1)
		for i := range n {
			start, end := c.Bounds(i)
			matches := int32(0)
			me := uint32(i) + 1
			for p := start; p <= end-k; p++ {
				id := ids[p]
				if id == ngram.Single {
					continue
				}
				matches++
				h := &held[id]
				if h.last != me {
					h.last, h.cur = me, 0
				}
				h.cur++
				switch {
				case h.owner == me:
					h.max1 = h.cur // own record: cur counts up to it and beyond
				case h.cur > h.max1:
					h.max2, h.max1, h.owner = h.max1, h.cur, me
				case h.cur > h.max2:
					h.max2 = h.cur
				}
			}
			st.Matches[i*orders+k-1] = matches
		}
		// Every sentence matches all its n-grams, except that the owner of a largest
		// count is clipped to the largest count of the others.
		for id := 1; id <= numbers; id++ {
			if h := &held[id]; h.max1 > h.max2 {
				st.Matches[(int(h.owner)-1)*orders+k-1] -= h.max1 - h.max2
			}
		}
	}
	selfLengths(st)
	return st, nil
}

// selfLengths finds each sentence's closest length among the others.
func selfLengths(st *stats) {
	count := map[int]int{}
	for _, l := range st.HypLens {
		count[int(l)]++
	}
	sorted := slices.Sorted(maps.Keys(count))
	for i, l := range st.HypLens {
		others := sorted
		if k, _ := slices.BinarySearch(sorted, int(l)); count[int(l)] == 1 {
			others = slices.Concat(sorted[:k], sorted[k+1:])
		}
		st.RefLens[i] = int32(ngram.Closest(others, int(l)))
	}
}

// selfMean averages the sentences' own scores.
func selfMean(c *corpus.Corpus, s *settings, sig signature) (*Result, error) {
	st, err := selfStats(c, s.counted)
	if err != nil {
		return nil, err
	}
	one := newSums(st.Orders)
	scores := make([]float64, st.N)
	zero := 0
	for i := range st.N {
		one.reset()
		one.add(st, i, s.Denominator)
		if scores[i], _, err = one.score(s, nil); err != nil {
			return nil, fmt.Errorf("sentence %d: %w", i+1, err)
		}
		if slices.Contains(one.match[:s.Order], 0) {
			zero++
		}
	}
	r, pooled := st.result(s)
	r.Score = sum(scores) / float64(st.N)
	if r.Precisions, err = s.smooth.precisions(pooled, s.Order); err != nil {
		return nil, err
	}
	if zero > 0 {
		r.Warnings = append(r.Warnings, fmt.Errorf("%d of %d sentences: %w in some order", zero, st.N,
			errZeroMatches))
	}
	return r.close(s, sig, jackknife(c, sig, selfMean))
}

// selfGroups averages pooled self-BLEU over groups.
func selfGroups(c *corpus.Corpus, s *settings, sig signature, o SelfOptions) (*Result, error) {
	if len(o.Groups) != c.Len() {
		return nil, fmt.Errorf("%w: %d sentences, %d group numbers", ErrUnequal, c.Len(), len(o.Groups))
	}
	members := map[int][]int{}
	for i, g := range o.Groups {
		members[g] = append(members[g], i)
	}
	plain := *s
	plain.Confidence = nil
	r := &Result{Matches: make([]int64, s.Order), Totals: make([]int64, s.Order)}
	used, zero, alone := 0, 0, 0
	for _, g := range slices.Sorted(maps.Keys(members)) {
		if len(members[g]) < 2 {
			alone++
			continue
		}
		one, err := selfPooled(c.Select(members[g]), &plain, sig)
		if err != nil {
			return nil, fmt.Errorf("group %d: %w", g, err)
		}
		used++
		if slices.Contains(one.Matches, 0) {
			zero++
		}
		r.Groups = append(r.Groups, one.Score)
		r.N += one.N
		r.HypLen += one.HypLen
		r.RefLen += one.RefLen
		for k := range r.Matches {
			r.Matches[k] += one.Matches[k]
			r.Totals[k] += one.Totals[k]
		}
	}
	if used == 0 {
		return nil, fmt.Errorf("no group has two sentences: %w", errFewSentences)
	}
	if alone > 0 {
		r.Warnings = append(r.Warnings, fmt.Errorf(
			"%d of %d groups have one sentence and are left out: %w", alone, len(members), errFewSentences))
	}
	if zero > 0 {
		r.Warnings = append(r.Warnings, fmt.Errorf("%d of %d groups: %w in some order", zero, used,
			errZeroMatches))
	}
	r.Score = sum(r.Groups) / float64(used)
	pooled := &sums{match: r.Matches, total: r.Totals, hyp: r.HypLen, ref: r.RefLen}
	r.BP = pooled.brevity()
	r.Precisions = make([]float64, s.Order)
	for k := range r.Precisions {
		if r.Totals[k] > 0 {
			r.Precisions[k] = float64(r.Matches[k]) / float64(r.Totals[k])
		}
	}
	sig.n, sig.agg = r.N, fmt.Sprintf("group%d", used)
	return r.close(s, sig, func(s *settings, _ float64) (*Bounds, error) {
		if used < 2 {
			return nil, fmt.Errorf("%w: all are of one", ErrFewUnits)
		}
		return s.Confidence.bootstrap(used, func(drawn []int) (float64, error) {
			total := 0.0
			for _, k := range drawn {
				total += r.Groups[k]
			}
			return total / float64(used), nil
		})
	})
}
