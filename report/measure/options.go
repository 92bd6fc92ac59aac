// Package measure turns sentences into numbers: files of them, several samplers that were run on
// the same sentences, and words that were filled again. Every number is a [Metric]: it has a
// signature that names its definition, and a number that cannot be computed is absent with a
// warning beside it, never 0.
package measure

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"infill/internal/count"
	"infill/metrics/bleu"
	"infill/metrics/corpus"
	"infill/metrics/ngram"
	"infill/report/read"
)

// Options says how sentences are measured. The zero value is the literature's
// way: white-space tokens in lower case, BLEU-4 without smoothing under NLTK's
// conventions, pooled self-BLEU, references cleaned as Wang & Cho do, no
// intervals.
type Options struct {
	// Tokenize is one of [corpus.Tokenizers]; "" is "ws".
	Tokenize string
	// Case is "lc" (default) or "mixed".
	Case string
	// Clean is the references' cleaning, one of [corpus.Cleanings]; "" is "wc".
	Clean string
	// CleanGenerated is the generated sentences' cleaning; "" is "none".
	CleanGenerated string
	// Order, Weights, Smoothing, SmoothValue, Denominator and EffectiveOrder are
	// BLEU's; see [bleu.Options].
	Order          int
	Weights        []float64
	Smoothing      string
	SmoothValue    *float64
	Denominator    string
	EffectiveOrder bool
	// SelfBLEU is the variant: "corpus" (default), "mean", "first" or "group", and
	// First the number of sentences for "first".
	SelfBLEU string
	First    int
	// Ngrams are the orders of unique n-grams; nil is 1 to 4 for Eval, 2 and 3 for
	// Compare.
	Ngrams []int
	// Confidence asks for intervals, with the fillings of a record as a unit: a bootstrap of BLEU and
	// of self-BLEU's group, a jackknife of other self-BLEU and of differences from the first sampler,
	// or the first file that was made from the same texts. Resamples is how often the bootstrap draws,
	// 0 for 1000. Level is the coverage, 0 for 0.95.
	Confidence bool
	Resamples  int
	Level      float64
	// Seed is the seed of bootstrap resamples, and of samples that have none of their own.
	Seed uint64
	// Exclude lists sentences that are left out of the references because they were
	// the ones infilled; compared by [corpus.LooseKey].
	Exclude []string
	// Judge says how likely a model finds the texts, nil for none.
	Judge *Judge
}

// plan is checked options.
type plan struct {
	Options
	generated, reference *corpus.Pipeline
	bleu                 bleu.Options
	excluded             map[string]bool
	order                int // highest order any index needs
}

func (o Options) plan(ngrams []int) (*plan, error) {
	if o.Clean == "" {
		o.Clean = "wc"
	}
	if o.Ngrams == nil {
		o.Ngrams = ngrams
	}
	p := &plan{Options: o}
	var err1, err2 error
	pipeline := func(clean string) (*corpus.Pipeline, error) {
		return corpus.NewPipeline(corpus.Options{Tokenizer: o.Tokenize, Case: o.Case, Clean: clean})
	}
	p.generated, err1 = pipeline(o.CleanGenerated)
	p.reference, err2 = pipeline(o.Clean)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	p.bleu = bleu.Options{
		Order: o.Order, Weights: o.Weights, Smoothing: o.Smoothing, SmoothValue: o.SmoothValue,
		Denominator: o.Denominator, EffectiveOrder: o.EffectiveOrder,
	}
	if o.Confidence {
		p.bleu.Confidence = &bleu.Confidence{Resamples: o.Resamples, Seed: o.Seed, Level: o.Level}
	}
	var err error
	if p.order, err = p.bleu.IndexOrder(); err != nil {
		return nil, err
	}
	for _, n := range o.Ngrams {
		if n < 1 || n > ngram.MaxOrder {
			return nil, fmt.Errorf("%w: n-gram order %d (want 1 to %d)", read.ErrOption, n, ngram.MaxOrder)
		}
		p.order = max(p.order, n)
	}
	err = (bleu.SelfOptions{Variant: o.SelfBLEU, First: o.First}).CheckVariant()
	if err != nil {
		return nil, err
	}
	p.excluded = map[string]bool{}
	for _, s := range o.Exclude {
		if k := corpus.LooseKey(s); k != "" {
			p.excluded[k] = true
		}
	}
	return p, nil
}

// settings says in words how sentences are measured.
func (p *plan) settings() string {
	gen, ref := p.generated.Options(), p.reference.Options()
	parts := []string{
		fmt.Sprintf("tokens %s, case %s", gen.Tokenizer, gen.Case),
		fmt.Sprintf("cleaning: references %s, generated %s", ref.Clean, gen.Clean),
		fmt.Sprintf("BLEU-%d, smoothing %s, denominator %s",
			cmp.Or(p.Order, len(p.Weights), bleu.DefaultOrder),
			cmp.Or(p.Smoothing, bleu.DefaultSmoothing), cmp.Or(p.Denominator, bleu.Denominators()[0])),
		"self-BLEU " + cmp.Or(p.SelfBLEU, bleu.Variants()[0]),
	}
	if p.EffectiveOrder {
		parts[2] += ", effective order"
	}
	if p.SelfBLEU == "first" {
		parts[3] += fmt.Sprintf(" %d", p.First)
	}
	if b := p.bleu.Confidence; b != nil {
		parts = append(parts, fmt.Sprintf(
			"intervals of level %g, from %d resamples of whole sources, or a jackknife over them",
			cmp.Or(b.Level, bleu.DefaultLevel), cmp.Or(b.Resamples, bleu.DefaultResamples)))
	}
	if n := len(p.excluded); n > 0 {
		parts = append(parts, fmt.Sprintf("excluded from the references: %d", n))
	}
	return strings.Join(parts, "; ")
}

// read says in words which sentences of the files count; "" for all of them.
func (o EvalOptions) read() string {
	var parts []string
	if o.Read.Top > 0 {
		parts = append(parts, fmt.Sprintf("the best %d filling%s of each record", o.Read.Top,
			count.S(o.Read.Top)))
	}
	if o.Read.Sample > 0 {
		parts = append(parts, fmt.Sprintf("samples of %d sentence%s", o.Read.Sample,
			count.S(o.Read.Sample)))
	}
	if o.Read.Paired {
		parts = append(parts, "paired line by line")
	}
	return strings.Join(parts, "; ")
}
