package measure

import "infill/metrics/ngram"

// where says in which tables a measure stands.
type where int

const (
	inEval    where = 1 << iota // files of sentences
	inCompare                   // samplers: the table of quality
	ofRun                       // samplers: the table of what the runs cost

	// The tables of differences, beside one of those above.
	pairedFiles
	pairedRuns
)

// measured is what the metrics of one row are made from.
type measured struct {
	*plan
	set  *set
	refs *references

	eval   *EvalOptions // of a file of sentences, else nil
	scored bool         // some file of the table has scores

	run *SamplerRun // of a sampler, else nil

	counts    []ngram.Counts // of n-grams, by order; see ngrams
	countsErr error
	counted   bool
}
