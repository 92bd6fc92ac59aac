package measure

import (
	"fmt"
	"math"

	"infill/metrics/ngram"
)

// measures are all columns of all tables, in the order of the tables. To add a
// metric, write its function in a file of its own and name it here.
var measures = []struct {
	in      where
	compute func(*measured) ([]Metric, error)
}{
	{inEval | ofLabel, plain("n", "sentences", "", 0, 0, "",
		func(m *measured) float64 { return float64(m.set.corpus.Len()) })},
	{inEval | ofLabel | pairedFiles | inCompare | pairedRuns, selfBLEU},
	{inEval | pairedFiles | inCompare | pairedRuns, uniqueNgrams},
	{inEval | pairedFiles, bleuOfEach},
	{inCompare | pairedRuns, bleuOfAll},
	{inEval | ofLabel | pairedFiles, distinctNgrams},
	{inEval | pairedFiles, entropies},
	{inEval | pairedFiles, selfRepetition},
	{inEval, compressionRatio},
	{inEval, plain("distinct_sentences", "distinct sentences", "", 0, +1, "",
		func(m *measured) float64 { return float64(len(m.set.distinct)) })},
	{inEval | ofLabel | pairedFiles, scoresOfFile},
	{inEval | pairedFiles | inCompare | pairedRuns, judgements},
	{ofRun, plain("move_share", "moves", "%", 1, 0, "share of steps that proposed another state",
		func(m *measured) float64 { return 100 * m.run.MoveShare })},
	{ofRun, plain("acceptance", "accepted", "%", 1, 0, "share of accepted moves among those "+
		"proposed; n/a for samplers without an acceptance step",
		func(m *measured) float64 { return 100 * m.run.Acceptance })},
	{ofRun | pairedRuns, distinctFillings},
	{ofRun | pairedRuns, scoresOfRun},
	{ofRun, plain("evaluations", "evaluations", "", 0, 0, "",
		func(m *measured) float64 { return float64(m.run.Evaluations) })},
	{ofRun, plain("rows", "rows", "", 0, 0, "sequences that the evaluations take: an energy one for "+
		"every masked token, a conditional one",
		func(m *measured) float64 { return above(m.run.Rows, 1) })},
	{ofRun, plain("steps", "steps", "", 1, 0, "mean over all chains",
		func(m *measured) float64 { return above(m.run.Steps, m.run.taken()) })},
	{ofRun, plain("wall", "wall time", "s", 1, -1, "",
		func(m *measured) float64 { return m.run.Wall.Seconds() })},
}

// plain computes a column of one number, which is NaN where there is none.
func plain(key, label, unit string, decimals, better int, detail string,
	value func(*measured) float64) func(*measured) ([]Metric, error) {
	return func(m *measured) ([]Metric, error) {
		x := newMetric(key, label, unit, decimals, better)
		x.Detail, x.Value = detail, value(m)
		return one(x)
	}
}

// above is a share of numbers that are above 0, NaN where one is not.
func above(n int64, of int) float64 {
	if n <= 0 || of <= 0 {
		return math.NaN()
	}
	return float64(n) / float64(of)
}

// row computes the columns of the tables in where. All rows of a table have the same columns.
func (m *measured) row(in where) (Row, error) {
	out := Row{Name: m.set.name}
	for _, x := range measures {
		if x.in&in == 0 {
			continue
		}
		list, err := x.compute(m)
		if err != nil {
			return Row{}, err
		}
		for i := range list {
			list[i].OfRun = x.in&ofRun != 0
		}
		out.Metrics = append(out.Metrics, list...)
	}
	return out, nil
}

// selfRepetition is the mean number of n-grams that a sentence shares with the
// others, on a logarithmic scale; see [ngram.SelfRepetition].
func selfRepetition(m *measured) ([]Metric, error) {
	n := m.eval.Repetition
	x := newMetric("self_repetition", fmt.Sprintf("self-repetition, n=%d", n), "", 3, -1)
	x.Signature = fmt.Sprintf("selfrep|n:%d|agg:mean-log|N:%d|%s|v:1",
		n, m.set.corpus.Len(), m.generated.Signature())
	v, err := ngram.SelfRepetition(m.set.corpus, n)
	x.take(v, err)
	return one(x)
}

// compressionRatio is the size of the sentences over their size in gzip.
func compressionRatio(m *measured) ([]Metric, error) {
	x := newMetric("compression_ratio", "compression ratio", "", 3, -1)
	x.Signature = fmt.Sprintf("cr|alg:gzip9|join:space|N:%d|v:1", m.set.corpus.Len())
	v, err := m.set.gzip.Ratio()
	x.take(v, err)
	return one(x)
}

// where says in which tables a measure stands.
type where int

const (
	inEval    where = 1 << iota // files of sentences
	ofLabel                     // sentences of a label
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
