// Package bleu computes BLEU (Papineni et al. 2002) and self-BLEU the way the
// literature's tools do, in time linear in the number of tokens.
//
// The same sentences score very differently under different definitions, so
// every [Result] carries a signature that names each choice:
//
//	selfBLEU|n:4|agg:corpus|N:100|tok:ws|case:lc|smooth:none|den:nltk|v:1
//
// # Definitions
//
// Corpus BLEU: for every order k the clipped matches and the totals are summed
// over all hypotheses before the precision p_k = matches/total is taken.
//
//	BLEU = BP · exp(Σ_k w_k ln p_k),   BP = min(1, exp(1 − r/h))
//
// with h the summed hypothesis lengths and r the summed lengths of each
// hypothesis's closest reference, the shorter of two equally close ones.
//
// Self-BLEU: corpus BLEU with each sentence as hypothesis and all the others as
// its references, pooled over the set (Wang & Cho 2019, DISCS).
//
// NLTK and sacrebleu differ in two things, which [Options.Denominator] switches:
// a sentence too short for an order counts 1 (NLTK) or 0 (sacrebleu) in that
// order's total, and a precision of zero is taken as the smallest positive
// float (NLTK ≥ 3.3) or makes the score exactly 0 (sacrebleu).
//
// Numbers that are formally defined but mean little come with warnings in
// [Result.Warnings]. An undefined one is an error, never a silent 0 or NaN.
package bleu

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"infill/metrics/corpus"
	"infill/metrics/ngram"
)

// Errors and warnings. Compare with errors.Is.
var (
	// ErrOption reports an option that does not exist or does not fit another.
	ErrOption = errors.New("bad BLEU option")
	// errNoHypotheses reports an empty set of hypotheses.
	errNoHypotheses = errors.New("no hypotheses")
	// errNoReferences reports a hypothesis without any reference.
	errNoReferences = errors.New("no references")
	// ErrUnequal reports paired hypotheses and references of different number.
	ErrUnequal = errors.New("unequal numbers of sentences")
	// errFewSentences reports self-BLEU of fewer than two sentences.
	errFewSentences = errors.New("self-BLEU needs at least two sentences")
	// errSmoothing reports a smoothing method that is undefined on the data.
	errSmoothing = errors.New("smoothing method undefined here")
	// errZeroMatches warns that an order has no match, so the score is (close to) 0
	// whatever the other orders are.
	errZeroMatches = errors.New("no matching n-grams")
	// errShort warns that no hypothesis is long enough for an order.
	errShort = errors.New("no hypothesis is long enough for this n-gram order")
	// errEmptySentence warns of hypotheses without any token.
	errEmptySentence = errors.New("empty hypotheses")
	// errLastSentence warns of a smoothing method that looks at one sentence only.
	errLastSentence = errors.New("sentence-level smoothing used on a corpus")

	// errVocab reports corpora that do not share one corpus.Vocab. It is ngram.ErrVocab.
	errVocab = ngram.ErrVocab
)

// Denominator names the tool whose conventions hold. See the package comment.
type Denominator string

// The two conventions.
const (
	NLTK      Denominator = "nltk"
	SacreBLEU Denominator = "sacrebleu"
)

// MaxOrder is the highest order of BLEU, as of the n-grams that it counts.
const MaxOrder = ngram.MaxOrder

// DefaultOrder is the order of the zero [Options], that of Papineni et al. (2002).
const DefaultOrder = 4

// Options says which BLEU is meant. The zero value is BLEU-4 with uniform weights,
// no smoothing, NLTK's conventions and no interval.
type Options struct {
	// Order is the highest n-gram order, 1 to [MaxOrder]; 0 means len(Weights), else
	// [DefaultOrder].
	Order int
	// Weights are the exponents of the precisions, one per order, not all 0. Nil is uniform. They
	// are taken as they are, as NLTK takes them, also if their sum is not 1.
	Weights []float64
	// Smoothing is one of [Smoothings]; "" means [DefaultSmoothing].
	Smoothing string
	// SmoothValue is the parameter of floor (default 0.1) and add-k (default 1),
	// of NLTK's epsilon in method1 (0.1), k in method4 and method7 (5), and alpha
	// in method6 (5). Nil takes the default. Others have none.
	SmoothValue *float64
	// Denominator is NLTK (default, "") or SacreBLEU.
	Denominator Denominator
	// EffectiveOrder leaves out the orders that no hypothesis is long enough for,
	// as sacrebleu's option for sentence BLEU does. It needs uniform weights.
	EffectiveOrder bool
	// Confidence asks for an interval.
	Confidence *Confidence
}

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
	// Interval is nil unless asked for, and with a warning, if there are too few units.
	Interval *Interval
	// Groups are the scores of the groups, for self-BLEU's "group" variant.
	Groups []float64
	// Warnings say what makes the score less than it seems.
	Warnings []error
	// Stats are the per-sentence counts behind the score, nil for the "group" variant.
	Stats *Stats
}

// Percent returns the score times 100, as tables print it.
func (r *Result) Percent() float64 { return 100 * r.Score }

// settings are checked options with the defaults filled in.
type settings struct {
	Options
	weights []float64
	uniform bool
	smooth  smoother
	counted int // orders to count: Order, or 5 where a smoothing method needs them
}

func (o Options) check() (*settings, error) {
	s := &settings{Options: o}
	if s.Order == 0 {
		s.Order = len(o.Weights)
		if s.Order == 0 {
			s.Order = DefaultOrder
		}
	}
	if s.Order < 1 || s.Order > MaxOrder {
		return nil, fmt.Errorf("%w: order %d (want 1 to %d)", ErrOption, s.Order, MaxOrder)
	}
	if o.Weights != nil && len(o.Weights) != s.Order {
		return nil, fmt.Errorf("%w: %d weights for order %d (want one for each)", ErrOption,
			len(o.Weights), s.Order)
	}
	s.weights = slices.Clone(o.Weights)
	if s.weights == nil {
		s.uniform = true
		for range s.Order {
			s.weights = append(s.weights, 1/float64(s.Order))
		}
	}
	for _, w := range s.weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("%w: weight %v (want finite and not negative)", ErrOption, w)
		}
	}
	if slices.Max(s.weights) == 0 {
		// Every precision to the power of 0 is 1, and so the score is, whatever the sentences.
		return nil, fmt.Errorf("%w: all weights are 0, so no order counts (want one above 0; no weights "+
			"are uniform ones)", ErrOption)
	}
	switch s.Denominator {
	case "":
		s.Denominator = NLTK
	case NLTK, SacreBLEU:
	default:
		return nil, fmt.Errorf("%w: denominator %q (known: nltk, sacrebleu)", ErrOption, s.Denominator)
	}
	if s.EffectiveOrder && !s.uniform {
		return nil, fmt.Errorf("%w: effective order needs uniform weights", ErrOption)
	}
	var err error
	if s.smooth, err = newSmoother(o.Smoothing, o.SmoothValue, s.Order); err != nil {
		return nil, err
	}
	s.counted = s.Order
	if s.smooth.needsFive() {
		s.counted = max(s.Order, 5)
	}
	if s.Confidence != nil {
		if s.Confidence, err = s.Confidence.check(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// IndexOrder returns the order that an [ngram.Index] must have to serve these
// options: the BLEU order, or 5 where the smoothing method looks at 5-grams.
func (o Options) IndexOrder() (int, error) {
	s, err := o.check()
	if err != nil {
		return 0, err
	}
	return s.counted, nil
}

// Corpus scores every hypothesis against the whole reference set. The index must
// share the corpus's vocabulary and have at least [Options.IndexOrder].
func Corpus(hyps *corpus.Corpus, refs *ngram.Index, o Options) (*Result, error) {
	s, err := o.check()
	if err != nil {
		return nil, err
	}
	switch {
	case hyps == nil || hyps.Len() == 0:
		return nil, errNoHypotheses
	case refs == nil || refs.Sentences() == 0:
		return nil, errNoReferences
	case refs.Vocab() != hyps.Vocab():
		return nil, errVocab
	case refs.Order() < s.counted:
		return nil, fmt.Errorf("%w: the references are indexed to order %d, order %d is needed",
			ErrOption, refs.Order(), s.counted)
	}
	st := newStats(hyps, s.counted)
	m := refs.NewMatcher()
	for i := range st.N {
		m.Match(hyps.Sentence(i), st.row(i))
		r, _ := refs.ClosestLength(int(st.HypLens[i]))
		st.RefLens[i] = int32(r)
	}
	return st.finish(s, signature{
		name: "BLEU", agg: "corpus", n: st.N, refs: fmt.Sprintf("set%d", refs.Sentences()),
		refClean: refs.Cleaning(), text: hyps.Pipeline().Signature(),
	}, st.bootstrap(s))
}

// Paired scores hypothesis i against sentence i of each reference corpus, as
// sacrebleu does with reference streams. All corpora must be of equal length.
func Paired(hyps *corpus.Corpus, refs []*corpus.Corpus, o Options) (*Result, error) {
	if len(refs) == 0 {
		return nil, errNoReferences
	}
	if hyps == nil {
		return nil, errNoHypotheses
	}
	for k, r := range refs {
		if r == nil {
			return nil, fmt.Errorf("reference %d is nil: %w", k+1, errNoReferences)
		}
		if r.Len() != hyps.Len() {
			return nil, fmt.Errorf("%w: %d hypotheses, %d sentences in reference %d; paired references "+
				"need one line each",
				ErrUnequal, hyps.Len(), r.Len(), k+1)
		}
		if r.Vocab() != hyps.Vocab() {
			return nil, errVocab
		}
	}
	return paired(hyps, func(i int) [][]uint32 {
		out := make([][]uint32, len(refs))
		for k, r := range refs {
			out[k] = r.Sentence(i)
		}
		return out
	}, fmt.Sprintf("paired%d", len(refs)), "corpus", o)
}

// paired scores hypotheses that each have references of their own. The little
// index of each sentence is thrown away, so memory stays constant.
func paired(hyps *corpus.Corpus, refs func(i int) [][]uint32, refName, agg string,
	o Options) (*Result, error) {
	s, err := o.check()
	if err != nil {
		return nil, err
	}
	if hyps.Len() == 0 {
		return nil, errNoHypotheses
	}
	st := newStats(hyps, s.counted)
	var p pairMatcher
	for i := range st.N {
		closest := p.match(hyps.Sentence(i), refs(i), st.row(i))
		st.RefLens[i] = int32(closest)
	}
	return st.finish(s, signature{name: "BLEU", agg: agg, n: st.N, refs: refName,
		text: hyps.Pipeline().Signature()}, st.bootstrap(s))
}
