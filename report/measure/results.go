package measure

import "infill/report/read"

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
