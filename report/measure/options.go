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

// EvalOptions are the options of [Eval].
type EvalOptions struct {
	Options
	// Read.Seed is the seed of samples, and of the report. Read.Paired compares sentence i with line i
	// of every reference file, as for translations, and not with the whole set.
	Read read.Options
	// Command is what made it, as it was typed, Version the program's, Date the day. Empty ones
	// are left out of the report.
	Command, Version, Date string
	// Repetition is the n-gram order of self-repetition; 0 is 4.
	Repetition int
}

// EvalResult is what [Eval] found, one column of metrics per file.
type EvalResult struct {
	Command  string `json:"command,omitempty"`
	Version  string `json:"version,omitempty"`
	Date     string `json:"date,omitempty"`
	Settings string `json:"settings"`
	Seed     uint64 `json:"seed"`

	Files      []read.File `json:"files"`
	References []Reference `json:"references"`
	Rows       []Row       `json:"rows"`
	// ByLabel are metrics of the sentences of each label and file, and Examples some sentences of each
	// file, by their labels.
	ByLabel  []Row     `json:"by_label,omitempty"`
	Examples []Example `json:"examples,omitempty"`
	// Judged are the sentences of each file, with what a judge says of them.
	Judged [][]Judged `json:"judged,omitempty"`
	// Differences are the metrics of the files from the second on less those of the first, with
	// intervals over the texts that records of both say they were made from. They come with
	// Options.BLEU.Confidence.
	Differences []Row `json:"differences,omitempty"`
	// Notes are remarks on the whole comparison, such as unequal numbers of sentences.
	Notes []string `json:"notes,omitempty"`

	Level float64 `json:"-"` // of the differences' intervals
}

// CompareOptions are the options of a comparison.
type CompareOptions struct {
	Options
	// Top is how many fillings of each sentence count, best first; 0 is 5.
	Top int
	// Examples is how many source sentences the report shows.
	Examples int
}

// CompareResult is DLP's Table 3 for the samplers, with what stands beside it.
type CompareResult struct {
	Title      string      `json:"title"`
	Command    string      `json:"command,omitempty"`
	Model      string      `json:"model,omitempty"`
	Version    string      `json:"version,omitempty"`
	Date       string      `json:"date,omitempty"`
	Settings   string      `json:"settings"`
	Protocol   string      `json:"protocol,omitempty"`
	Seed       uint64      `json:"seed"`
	Sentences  int         `json:"sentences"`
	Top        int         `json:"top"`
	References []Reference `json:"references"`
	Rows       []Row       `json:"rows"`
	// Judged are the fillings of each sampler, with what a judge says of them.
	Judged [][]Judged `json:"judged,omitempty"`
	// Differences are the metrics of the samplers from the second on less those of the first, with
	// intervals over the sentences that both filled. They come with Options.BLEU.Confidence.
	Differences []Row `json:"differences,omitempty"`
	// Gold is the corpus BLEU of the original sentences, for scale.
	Gold *Metric `json:"gold,omitempty"`
	// Traces are the means over chains, one per sampler that recorded any.
	Traces   []Trace   `json:"traces,omitempty"`
	Examples []Example `json:"examples,omitempty"`
	Params   []string  `json:"params"`
	Notes    []string  `json:"notes,omitempty"`

	Level   float64 `json:"-"` // of the differences' intervals
	Unequal bool    `json:"-"` // budgets: the samplers missed what they should have had equal
}

// Trace is the mean course of a sampler's chains.
type Trace struct {
	Sampler string `json:"sampler"`
	// X is model evaluations per chain at each step.
	X           Series `json:"x"`
	Evaluations bool   `json:"x_is_evaluations"` // for readers of other traces: always true
	// Energy is the mean over sentences of the mean over chains, in nats, and Error
	// its standard error over sentences.
	Energy Series `json:"energy"`
	Error  Series `json:"energy_se"`
	// Acceptance is the mean acceptance at each step, nil without.
	Acceptance Series `json:"acceptance,omitempty"`
	Chains     int    `json:"chains"`
}

// Example is one source sentence with the fillings of every sampler, as in DLP's Figure 6.
type Example struct {
	Text     string            `json:"text"`
	Gold     string            `json:"gold,omitempty"`
	Samplers []ExampleFillings `json:"samplers"`
}

// ExampleFillings are one sampler's fillings of an example.
type ExampleFillings struct {
	Sampler string           `json:"sampler"`
	Texts   []ExampleFilling `json:"fillings"`
	// Repeated of Generated filled places hold a text that an earlier filling of
	// the same sampler had in the same place.
	Repeated  int    `json:"repeated"`
	Generated int    `json:"generated"`
	Err       string `json:"error,omitempty"`
}

// ExampleFilling is a filling cut into pieces.
type ExampleFilling struct {
	Parts []Part `json:"parts"`
	Score Number `json:"score"`
}

// Part is a stretch of text: given, generated, or generated and seen before.
type Part struct {
	Text      string `json:"text"`
	Generated bool   `json:"generated,omitempty"`
	Repeated  bool   `json:"repeated,omitempty"`
}
