package measure

import (
	"fmt"

	"infill/metrics/ngram"
)

// measures are all columns of all tables, in the order of the tables. To add a
// metric, write its function in a file of its own and name it here.
var measures = []struct {
	in      where
	compute func(*measured) ([]Metric, error)
}{
	{inEval, sentences},
	{inEval | pairedFiles | inCompare | pairedRuns, selfBLEU},
	{inEval | pairedFiles | inCompare | pairedRuns, uniqueNgrams},
	{inEval | pairedFiles, bleuOfEach},
	{inCompare | pairedRuns, bleuOfAll},
	{inEval | pairedFiles, distinctNgrams},
	{inEval | pairedFiles, entropies},
	{inEval | pairedFiles, selfRepetition},
	{inEval, compressionRatio},
	{inEval, distinctSentences},
	{inEval | pairedFiles, scoresOfFile},
	{inEval | pairedFiles | inCompare | pairedRuns, perplexity},
	{ofRun, moveShare},
	{ofRun, acceptance},
	{ofRun | pairedRuns, distinctFillings},
	{ofRun | pairedRuns, scoresOfRun},
	{ofRun, evaluations},
	{ofRun, modelRows},
	{ofRun, stepsOfChains},
	{ofRun, wallTime},
}

// row computes the columns of the tables in where. All rows of a table have the
// same columns.
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

// sentences is their number.
func sentences(m *measured) ([]Metric, error) {
	x := newMetric("n", "sentences")
	x.Value, x.Decimals = float64(m.set.corpus.Len()), 0
	return one(x)
}

// distinctSentences is the number of different sentences.
func distinctSentences(m *measured) ([]Metric, error) {
	x := newMetric("distinct_sentences", "distinct sentences")
	x.Value, x.Decimals, x.Better = float64(len(m.set.distinct)), 0, +1
	return one(x)
}

// selfRepetition is the mean number of n-grams that a sentence shares with the
// others, on a logarithmic scale; see [ngram.SelfRepetition].
func selfRepetition(m *measured) ([]Metric, error) {
	n := m.eval.Repetition
	x := newMetric("self_repetition", fmt.Sprintf("self-repetition, n=%d", n))
	x.Decimals, x.Better = 3, -1
	x.Signature = fmt.Sprintf("selfrep|n:%d|agg:mean-log|N:%d|%s|v:1",
		n, m.set.corpus.Len(), m.generated.Signature())
	v, err := ngram.SelfRepetition(m.set.corpus, n)
	x.take(v, err)
	return one(x)
}

// compressionRatio is the size of the sentences over their size in gzip.
func compressionRatio(m *measured) ([]Metric, error) {
	x := newMetric("compression_ratio", "compression ratio")
	x.Decimals, x.Better = 3, -1
	x.Signature = fmt.Sprintf("cr|alg:gzip9|join:space|N:%d|v:1", m.set.corpus.Len())
	v, err := m.set.gzip.Ratio()
	x.take(v, err)
	return one(x)
}
