package measure

import (
	"fmt"

	"infill/infill"
)

// keyScore is the key of the mean score.
const keyScore = "score"

// keyPerToken is the key of the mean of scores per token.
const keyPerToken = "score_per_token"

func isScore(key string) bool { return key == keyScore || key == keyPerToken }

// scoresOfFile are the mean scores of a file's records. The columns are there
// if any file of the table has scores.
func scoresOfFile(m *measured) ([]Metric, error) {
	if !m.scored {
		return nil, nil
	}
	n := m.set.corpus.Len()
	var out []Metric
	for _, c := range []struct {
		key, label string
		mean       mean
	}{
		{keyScore, "mean score", m.set.mean(ofSentence)},
		{keyPerToken, "mean score per blank", m.set.mean(perToken)},
	} {
		x := newMetric(c.key, c.label, "nats", 3, +1)
		if c.mean.n == 0 {
			x.Warnings = []string{"the file has no such scores"}
		} else {
			if c.mean.n < n {
				x.Warnings = []string{fmt.Sprintf("only %d of %d sentences %s a score", c.mean.n, n,
					either(c.mean.n, "has", "have"))}
			}
			x.mean(c.mean, m.set.scoring)
		}
		out = append(out, x)
	}
	return out, nil
}

// scoresOfRun are the mean scores of a sampler's fillings: as they are, and per blank.
func scoresOfRun(m *measured) ([]Metric, error) {
	return []Metric{
		scoreOfRun(keyScore, "mean score", "pseudo-log-likelihood of the kept fillings",
			m.set.mean(ofSentence)),
		scoreOfRun("score_per_blank", "score per blank",
			"mean over the fillings of their score per blank", m.set.mean(perBlank)),
	}, nil
}

func scoreOfRun(key, label, detail string, v mean) Metric {
	x := newMetric(key, label, "nats", 2, +1)
	x.Detail = detail
	switch {
	case v.n == 0:
		x.Warnings = []string{"no fillings"}
	case !finite(v.sum):
		x.Warnings = []string{"a filling has no finite score"}
	default:
		x.mean(v, infill.ScorePLL.String())
	}
	return x
}

// mean takes over a mean of scores by what they are.
func (m *Metric) mean(v mean, scoring string) {
	m.Value = v.sum / float64(v.n)
	m.Signature = fmt.Sprintf("%s|agg:mean|N:%d|v:1", scoring, v.n)
}
