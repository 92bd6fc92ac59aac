package bleu

import (
	"errors"

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
