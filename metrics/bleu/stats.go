package bleu

import (
	"math"

	"infill/metrics/corpus"
)

// stats are the sufficient statistics of BLEU, one row per hypothesis: every
// score and every resample of a bootstrap is a sum of rows.
type stats struct {
	// N is the number of hypotheses and Orders the number of n-gram orders counted.
	N, Orders int
	// Matches holds the clipped matches, Matches[i*Orders+k−1] for hypothesis i and
	// order k. The totals follow from HypLens.
	Matches []int32
	// HypLens and RefLens are lengths in tokens.
	HypLens, RefLens []int32
}

func newStats(hyps *corpus.Corpus, orders int) *stats {
	n := hyps.Len()
	st := &stats{
		N: n, Orders: orders, Matches: make([]int32, n*orders),
		HypLens: make([]int32, n), RefLens: make([]int32, n),
	}
	for i := range n {
		start, end := hyps.Bounds(i)
		st.HypLens[i] = int32(end - start)
	}
	return st
}

// row returns the matches of hypothesis i, one per order.
func (st *stats) row(i int) []int32 { return st.Matches[i*st.Orders : (i+1)*st.Orders] }

// sums are pooled rows.
type sums struct {
	match, total   []int64
	hyp, ref       int64
	lastMatch5     int64 // of the last sentence: 5-gram matches
	lastLen        int64 // of the last sentence: length in tokens
	longest        int64 // longest hypothesis
	sentences      int
	emptySentences int
}

func newSums(orders int) *sums {
	return &sums{match: make([]int64, orders), total: make([]int64, orders)}
}

func (s *sums) reset() {
	clear(s.match)
	clear(s.total)
	s.hyp, s.ref, s.longest, s.sentences, s.emptySentences = 0, 0, 0, 0, 0
}

// add pools hypothesis i.
func (s *sums) add(st *stats, i int, den string) {
	row := st.row(i)
	n := int64(st.HypLens[i])
	for k := range s.match {
		s.match[k] += int64(row[k])
		t := n - int64(k)
		switch {
		case t > 0:
			s.total[k] += t
		case den == nltk:
			s.total[k]++ // NLTK's max(1, count), once per sentence
		}
	}
	s.hyp += n
	s.ref += int64(st.RefLens[i])
	s.sentences++
	s.longest = max(s.longest, n)
	if n == 0 {
		s.emptySentences++
	}
	s.lastLen, s.lastMatch5 = n, 0
	if len(row) >= 5 {
		s.lastMatch5 = int64(row[4])
	}
}

// brevity is the brevity penalty; 0 for an empty hypothesis.
func (s *sums) brevity() float64 {
	switch {
	case s.hyp == 0:
		return 0
	case s.hyp >= s.ref:
		return 1
	}
	return math.Exp(1 - float64(s.ref)/float64(s.hyp))
}

// sum adds with Neumaier's compensation, to match Python's math.fsum.
func sum(x []float64) float64 {
	s, c := 0.0, 0.0
	for _, v := range x {
		t := s + v
		if math.Abs(s) >= math.Abs(v) {
			c += (s - t) + v
		} else {
			c += (v - t) + s
		}
		s = t
	}
	return s + c
}

// all pools every row.
func (st *stats) all(den string) *sums {
	s := newSums(st.Orders)
	for i := range st.N {
		s.add(st, i, den)
	}
	return s
}
