package bleu

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"infill/metrics/ngram"
)

// MaxOrder is the highest order of BLEU, as of the n-grams that it counts.
const MaxOrder = ngram.MaxOrder

// DefaultOrder is the order of the zero [Options], that of Papineni et al. (2002).
const DefaultOrder = 4

// Options says which BLEU is meant. The zero value is BLEU-4 with uniform weights,
// no smoothing, NLTK's conventions and no interval.
type Options struct {
	// Order is the highest n-gram order, 1 to [MaxOrder]; 0 means len(Weights), else [DefaultOrder].
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
	// Denominator names the tool whose conventions hold, see the package comment: "nltk", which "" is
	// too, or "sacrebleu".
	Denominator string
	// EffectiveOrder leaves out the orders that no hypothesis is long enough for,
	// as sacrebleu's option for sentence BLEU does. It needs uniform weights.
	EffectiveOrder bool
	// Confidence asks for an interval.
	Confidence *Confidence
}

// The values of Options.Denominator.
const (
	nltk      = "nltk"
	sacrebleu = "sacrebleu"
)

// Denominators lists the values of Options.Denominator, the default first.
func Denominators() []string { return []string{nltk, sacrebleu} }

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
	if s.Order = cmp.Or(s.Order, len(o.Weights), DefaultOrder); s.Order < 1 || s.Order > MaxOrder {
		return nil, fmt.Errorf("%w: order %d (want 1 to %d)", ErrOption, s.Order, MaxOrder)
	}
	if o.Weights != nil && len(o.Weights) != s.Order {
		return nil, fmt.Errorf("%w: %d weights for order %d (want one for each)", ErrOption,
			len(o.Weights), s.Order)
	}
	s.weights, s.uniform = slices.Clone(o.Weights), o.Weights == nil
	if s.uniform {
		s.weights = slices.Repeat([]float64{1 / float64(s.Order)}, s.Order)
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
	s.Denominator = cmp.Or(s.Denominator, nltk)
	if !slices.Contains(Denominators(), s.Denominator) {
		return nil, fmt.Errorf("%w: denominator %q (known: %s)", ErrOption, s.Denominator,
			strings.Join(Denominators(), ", "))
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

// version is the v of the signature. It rises when a definition changes, so that
// numbers under the same signature stay comparable.
const version = 1

// signature are the parts that the settings do not know.
type signature struct {
	name, agg, refs, refClean, text string
	n                               int
}

// format writes the signature in the order of its shape:
//
//	selfBLEU|n:4|agg:corpus|N:100|tok:ws|case:lc|smooth:none|den:nltk|v:1
func (g signature) format(s *settings, iv *Bounds) string {
	parts := []string{g.name, fmt.Sprintf("n:%d", s.Order), "agg:" + g.agg, fmt.Sprintf("N:%d", g.n)}
	if !s.uniform {
		w := make([]string, len(s.weights))
		for i, x := range s.weights {
			w[i] = strconv.FormatFloat(x, 'g', -1, 64)
		}
		parts = append(parts, "w:"+strings.Join(w, ","))
	}
	if g.refs != "" {
		parts = append(parts, "refs:"+g.refs)
	}
	if g.refClean != "" && g.refClean != "none" {
		parts = append(parts, "refclean:"+g.refClean)
	}
	parts = append(parts, g.text, "smooth:"+s.smooth.String(), "den:"+s.Denominator)
	if s.EffectiveOrder {
		parts = append(parts, "eff:yes")
	}
	if iv != nil {
		if iv.Blocks > 0 {
			parts = append(parts, fmt.Sprintf("jk:%d", iv.Blocks))
		} else {
			parts = append(parts, fmt.Sprintf("bs:%d", iv.Resamples), fmt.Sprintf("rs:%d", iv.Seed))
		}
		if iv.Units != g.n {
			parts = append(parts, fmt.Sprintf("units:%d", iv.Units))
		}
		parts = append(parts, "ci:"+strconv.FormatFloat(iv.Level, 'g', -1, 64))
	}
	return strings.Join(append(parts, fmt.Sprintf("v:%d", version)), "|")
}
