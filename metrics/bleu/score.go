package bleu

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Result is a BLEU score with everything needed to understand it.
type Result struct {
	// Score is in [0,1]. The literature prints it times 100. A mean of sentence
	// scores is possible for self-BLEU's "mean" variant only.
	Score float64
	// Precisions are the precisions after smoothing, in [0,1] (methods 5 and 7 may
	// exceed 1), one per order. Those of self-BLEU's "group" variant are before it.
	Precisions []float64
	// Matches and Totals are the pooled counts before smoothing.
	Matches, Totals []int64
	// BP is the brevity penalty, in [0,1].
	BP float64
	// HypLen and RefLen are pooled lengths in tokens.
	HypLen, RefLen int64
	// N is the number of hypotheses.
	N int
	// Signature names every choice that the score depends on.
	Signature string
	// Bounds is nil unless asked for, and with a warning, if there are too few units.
	Interval *Bounds
	// Groups are the scores of the groups, for self-BLEU's "group" variant.
	Groups []float64
	// Warnings say what makes the score less than it seems.
	Warnings []error
	// stats are the per-sentence counts behind the score, nil for the "group" variant.
	stats *stats
}

// Percent returns the score times 100, as tables print it.
func (r *Result) Percent() float64 { return 100 * r.Score }

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
		if set.EffectiveOrder && (set.smooth.method != "add-k" || set.Denominator != sacrebleu) {
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
			if set.Denominator == sacrebleu {
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

// bootstrap resamples the rows of st, unit by unit.
func (st *stats) bootstrap(set *settings, _ float64) (*Bounds, error) {
	units, err := set.Confidence.members(st.N)
	if err != nil {
		return nil, err
	}
	s := newSums(st.Orders)
	return set.Confidence.bootstrap(len(units), func(drawn []int) (float64, error) {
		s.reset()
		for _, u := range drawn {
			for _, i := range units[u] {
				s.add(st, i, set.Denominator)
			}
		}
		score, _, err := s.score(set, nil)
		return score, err
	})
}

// close ends a result: with an interval, if one is asked for, and the signature. A result of too
// few units has a warning in place of the interval.
func (r *Result) close(set *settings, sig signature, interval bounding) (*Result, error) {
	if set.Confidence != nil {
		iv, err := interval(set, r.Score)
		switch {
		case errors.Is(err, ErrFewUnits):
			r.Warnings = append(r.Warnings, err)
		case err != nil:
			return nil, err
		default:
			r.Interval = iv
		}
	}
	r.Signature = sig.format(set, r.Interval)
	return r, nil
}

// result has the pooled counts of all rows.
func (st *stats) result(set *settings) (*Result, *sums) {
	s := st.all(set.Denominator)
	return &Result{
		Matches: s.match[:set.Order], Totals: s.total[:set.Order], BP: s.brevity(),
		HypLen: s.hyp, RefLen: s.ref, N: st.N, stats: st,
	}, s
}

// finish makes the result of a corpus-level score, with an interval if one is asked for.
func (st *stats) finish(set *settings, sig signature, interval bounding) (*Result, error) {
	r, s := st.result(set)
	var err error
	if r.Score, r.Precisions, err = s.score(set, &r.Warnings); err != nil {
		return nil, err
	}
	if st.N > 1 && set.smooth.lastSentence() {
		r.Warnings = append(r.Warnings, fmt.Errorf("%s: %w: as in NLTK, it looks at the last "+
			"sentence only", set.smooth.method, errLastSentence))
	}
	return r.close(set, sig, interval)
}
