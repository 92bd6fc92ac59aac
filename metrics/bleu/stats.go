package bleu

import (
	"fmt"
	"math"
	"slices"

	"infill/metrics/corpus"
)

// Stats are the sufficient statistics of BLEU, one row per hypothesis: every
// score and every resample of a bootstrap is a sum of rows.
type Stats struct {
	// N is the number of hypotheses and Orders the number of n-gram orders counted.
	N, Orders int
	// Matches holds the clipped matches, Matches[i*Orders+k−1] for hypothesis i and
	// order k. The totals follow from HypLens.
	Matches []int32
	// HypLens and RefLens are lengths in tokens.
	HypLens, RefLens []int32
}

func newStats(hyps *corpus.Corpus, orders int) *Stats {
	n := hyps.Len()
	st := &Stats{
		N: n, Orders: orders,
		Matches: make([]int32, n*orders),
		HypLens: make([]int32, n), RefLens: make([]int32, n),
	}
	for i := range n {
		start, end := hyps.Bounds(i)
		st.HypLens[i] = int32(end - start)
	}
	return st
}

// row returns the matches of hypothesis i, one per order.
func (st *Stats) row(i int) []int32 { return st.Matches[i*st.Orders : (i+1)*st.Orders] }

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
func (s *sums) add(st *Stats, i int, den Denominator) {
	row := st.row(i)
	n := int64(st.HypLens[i])
	for k := range s.match {
		s.match[k] += int64(row[k])
		t := n - int64(k)
		switch {
		case t > 0:
			s.total[k] += t
		case den == NLTK:
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

// score turns pooled counts into BLEU. Warnings are collected only when warn is
// not nil, so that resampling is cheap.
func (s *sums) score(set *settings, warn *[]error) (score float64, precisions []float64,
	err error) {
	say := func(e error) {
		if warn != nil {
			*warn = append(*warn, e)
		}
	}
	order := set.Order
	if s.emptySentences > 0 {
		say(fmt.Errorf("%d of %d: %w", s.emptySentences, s.sentences, errEmptySentence))
	}
	if s.match[0] == 0 {
		// Both tools return 0 here before any smoothing.
		say(fmt.Errorf("%w of any order; the score is 0", errZeroMatches))
		return 0, make([]float64, order), nil
	}
	short := 0 // first order that no hypothesis reaches, 0 when all are reached
	if s.longest < int64(order) {
		short = int(s.longest) + 1
	}
	p, err := set.smooth.precisions(s, order)
	if err != nil {
		return 0, nil, err
	}
	// An order of weight 0 is not in the score, so nothing is said of it.
	counts := func(w float64) bool { return set.EffectiveOrder || w != 0 }
	used := order
	if short > 0 {
		switch {
		case !slices.ContainsFunc(set.weights[short-1:], counts):
		case set.smooth.method == "none" && !set.EffectiveOrder:
			say(fmt.Errorf("order %d: %w, so the score is close to 0; lower the order or use smoothing",
				short, errShort))
		default:
			say(fmt.Errorf("order %d: %w", short, errShort))
		}
		// sacrebleu's add-k gives orders that nothing reaches a total, so it keeps them.
		if set.EffectiveOrder && (set.smooth.method != "add-k" || set.Denominator != SacreBLEU) {
			used = short - 1 // at least 1: order 1 has matches
		}
	}
	logs := make([]float64, 0, used)
	for k := 1; k <= used; k++ {
		if s.match[k-1] == 0 && (short == 0 || k < short) && counts(set.weights[k-1]) {
			if set.smooth.method == "none" {
				say(fmt.Errorf("order %d: %w, so the score is close to 0 whatever the other orders are; "+
					"lower the order or use smoothing", k, errZeroMatches))
			} else {
				say(fmt.Errorf("order %d: %w; its precision is the smoothing's", k, errZeroMatches))
			}
		}
		w := set.weights[k-1]
		if set.EffectiveOrder {
			w = 1 / float64(used)
		}
		q := p[k-1]
		if q <= 0 {
			if w == 0 {
				continue
			}
			if set.Denominator == SacreBLEU {
				return 0, p, nil
			}
			if set.smooth.method != "none" {
				// NLTK leaves precisions of zero out of the mean (method4 on a
				// one-word corpus). Follow it, and say so.
				say(fmt.Errorf("order %d: %w; NLTK leaves the order out of the mean", k, errZeroMatches))
				continue
			}
			q = smallest
		}
		logs = append(logs, w*math.Log(q))
	}
	return s.brevity() * math.Exp(sum(logs)), p, nil
}

// smallest is the smallest positive normal float64, Python's sys.float_info.min,
// which NLTK ≥ 3.3 takes for a precision of zero.
const smallest = 0x1p-1022

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
func (st *Stats) all(den Denominator) *sums {
	s := newSums(st.Orders)
	for i := range st.N {
		s.add(st, i, den)
	}
	return s
}

// finish makes the result of a corpus-level score, with an interval if one is asked for.
func (st *Stats) finish(set *settings, sig signature,
	interval func(score float64) (*Interval, error)) (*Result, error) {
	s := st.all(set.Denominator)
	r := &Result{
		Matches: s.match[:set.Order], Totals: s.total[:set.Order], BP: s.brevity(),
		HypLen: s.hyp, RefLen: s.ref, N: st.N, Stats: st,
	}
	var err error
	if r.Score, r.Precisions, err = s.score(set, &r.Warnings); err != nil {
		return nil, err
	}
	if st.N > 1 && set.smooth.lastSentence() {
		r.Warnings = append(r.Warnings, fmt.Errorf("%s: %w: as in NLTK, it looks at the last "+
			"sentence only", set.smooth.method, errLastSentence))
	}
	if set.Confidence != nil {
		if err := r.setInterval(interval(r.Score)); err != nil {
			return nil, err
		}
	}
	r.Signature = sig.format(set, r.Interval)
	return r, nil
}
