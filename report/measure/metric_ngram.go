package measure

import (
	"errors"
	"fmt"
	"slices"

	"infill/metrics/ngram"
)

// orders are the orders of n-grams, each once, as keys of metrics have them.
func (m *measured) orders() []int {
	var out []int
	for _, n := range m.Ngrams {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// ngrams counts the n-grams of the row once.
func (m *measured) ngrams() ([]ngram.Counts, error) {
	if !m.counted {
		most := slices.Max(append([]int{0}, m.Ngrams...))
		m.counts, m.countsErr = ngram.Count(m.set.corpus, most, m.refs.each...)
		m.counted = true
	}
	return m.counts, m.countsErr
}

// uniqueNgrams are the shares of n-grams that occur once in the set itself, and
// of those that no reference file has: a group of columns for each.
func uniqueNgrams(m *measured) ([]Metric, error) {
	if len(m.Ngrams) == 0 {
		return nil, nil
	}
	counts, err := m.ngrams()
	var out []Metric
	for r := -1; r < len(m.refs.each); r++ {
		name, kind, against := "self", "self", ""
		if r >= 0 {
			name, kind = m.refs.info[r].Name, "ref"
			against = fmt.Sprintf("|refs:set%d", m.refs.info[r].Sentences)
			if c := m.refs.each[r].Cleaning; c != "none" {
				against += "|refclean:" + c
			}
		}
		for _, n := range m.orders() {
			x := newMetric(fmt.Sprintf("unique.%s.%d", name, n), fmt.Sprintf("n=%d", n), "%", 2, +1)
			x.Group = "unique vs " + name
			x.Signature = fmt.Sprintf("unique|n:%d|vs:%s|N:%d%s|%s|v:1",
				n, kind, m.set.corpus.Len(), against, m.generated.Signature())
			v, e := 0.0, err
			if e == nil && r < 0 {
				v, e = counts[n-1].UniqueSelf()
			} else if e == nil {
				v, e = counts[n-1].UniqueReference(r)
			}
			x.take(100*v, e)
			if e == nil {
				x.Detail = fmt.Sprintf("of %d %d-grams", counts[n-1].Total, n)
			}
			out = append(out, x)
		}
	}
	return out, nil
}

// ofNgrams computes a column for each order of n-grams. An x of a hundred is of shares.
func ofNgrams(key, label, kind, unit string, decimals int, x float64,
	value func(ngram.Counts) (float64, error)) func(*measured) ([]Metric, error) {
	return func(m *measured) ([]Metric, error) {
		var out []Metric
		for _, n := range m.orders() {
			c := newMetric(fmt.Sprintf("%s.%d", key, n), fmt.Sprintf("%s-%d", label, n), unit, decimals,
				+1)
			c.Signature = fmt.Sprintf("%s|N:%d|%s|v:1", fmt.Sprintf(kind, n), m.set.corpus.Len(),
				m.generated.Signature())
			if counts, err := m.ngrams(); err != nil || counts == nil {
				c.Warnings = []string{"no counts"}
			} else {
				v, err := value(counts[n-1])
				c.take(x*v, err)
			}
			out = append(out, c)
		}
		return out, nil
	}
}

// errNoCounts is of n-grams that no sentence is long enough for.
var errNoCounts = errors.New("no counts")

// The entropies of the set's n-grams, in nats, and the shares of different n-grams among all.
var (
	entropies = ofNgrams("entropy", "Ent", "entropy|n:%d|log:e", "nats", 3, 1,
		func(c ngram.Counts) (float64, error) {
			if c.Total == 0 {
				return 0, errNoCounts
			}
			return c.Entropy, nil
		})
	distinctNgrams = ofNgrams("distinct", "distinct", "distinct|n:%d", "%", 2, 100,
		ngram.Counts.DistinctRatio)
)
