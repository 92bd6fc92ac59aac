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

// Options says how sentences are measured. The zero value is the literature's way: white-space
// tokens in lower case, BLEU-4 without smoothing under NLTK's conventions, pooled self-BLEU,
// references cleaned as Wang & Cho do, no intervals.
type Options struct {
	// Tokenize is one of [corpus.Tokenizers]; "" is "ws".
	Tokenize string
	// Case is "lc" (default) or "mixed".
	Case string
	// Clean is the references' cleaning, one of [corpus.Cleanings]; "" is "wc".
	Clean string
	// CleanGenerated is the generated sentences' cleaning; "" is "none".
	CleanGenerated string
	// BLEU says which BLEU and self-BLEU are meant. Its Confidence asks for intervals of all numbers,
	// with the fillings of a record as a unit: a bootstrap of BLEU and of self-BLEU's group, a
	// jackknife of other self-BLEU and of differences from the first sampler, or the first file that
	// was made from the same texts. Its Units and Groups are not read.
	BLEU bleu.SelfOptions
	// Ngrams are the orders of unique n-grams; nil is 1 to 4 for Eval, 2 and 3 for Compare.
	Ngrams []int
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
	var err error
	if p.order, err = p.BLEU.IndexOrder(); err != nil {
		return nil, err
	}
	for _, n := range o.Ngrams {
		if n < 1 || n > ngram.MaxOrder {
			return nil, fmt.Errorf("%w: n-gram order %d (want 1 to %d)", read.ErrOption, n, ngram.MaxOrder)
		}
		p.order = max(p.order, n)
	}
	if err := p.BLEU.CheckVariant(); err != nil {
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
	gen, ref, b := p.generated.Options(), p.reference.Options(), &p.BLEU
	parts := []string{
		fmt.Sprintf("tokens %s, case %s", gen.Tokenizer, gen.Case),
		fmt.Sprintf("cleaning: references %s, generated %s", ref.Clean, gen.Clean),
		fmt.Sprintf("BLEU-%d, smoothing %s, denominator %s",
			cmp.Or(b.Order, len(b.Weights), bleu.DefaultOrder),
			cmp.Or(b.Smoothing, bleu.DefaultSmoothing), cmp.Or(b.Denominator, bleu.Denominators()[0])),
		"self-BLEU " + cmp.Or(b.Variant, bleu.Variants()[0]),
	}
	if b.EffectiveOrder {
		parts[2] += ", effective order"
	}
	if b.Variant == "first" {
		parts[3] += fmt.Sprintf(" %d", b.First)
	}
	if c := b.Confidence; c != nil {
		parts = append(parts, fmt.Sprintf(
			"intervals of level %g, from %d resamples of whole sources, or a jackknife over them",
			cmp.Or(c.Level, bleu.DefaultLevel), cmp.Or(c.Resamples, bleu.DefaultResamples)))
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
