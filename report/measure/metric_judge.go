package measure

import (
	"fmt"
	"math"
	"strings"

	"infill/metrics/bleu"
	"infill/metrics/judge"
)

// A Judge is a model that judges the texts.
type Judge struct {
	// Sum names it, "sha256:…". Pseudo says that it is a masked model.
	Sum    string
	Pseudo bool
	// Verdicts are of texts, in order.
	Verdicts func(texts []string) ([]judge.Verdict, error)
}

// Judged is what a judge says of a text, null where it says nothing.
type Judged struct {
	Text       string `json:"text"`
	LogProb    Number `json:"log_prob"` // in nats
	Tokens     int    `json:"tokens"`
	Perplexity Number `json:"perplexity"`
}

// judge has the sentences of sets judged, and lists the verdicts; nil without a judge.
func (p *plan) judge(sets []*set) (out [][]Judged, err error) {
	if p.Judge == nil {
		return nil, nil
	}
	for _, s := range sets {
		if s.verdicts, err = p.Judge.Verdicts(s.texts); err != nil {
			return nil, fmt.Errorf("the judge: %w", err)
		}
		list := make([]Judged, len(s.texts))
		for i, v := range s.verdicts {
			list[i] = Judged{s.texts[i], Number(v.LogProb), v.Tokens, Number(judge.Perplexity(v))}
			if v.Tokens == 0 {
				list[i].LogProb = Number(math.NaN())
			}
		}
		out = append(out, list)
	}
	return out, nil
}

// perplexity is the perplexity that a judge gives the texts.
func perplexity(m *measured) ([]Metric, error) {
	if m.Judge == nil {
		return nil, nil
	}
	x := newMetric("judge_perplexity", "perplexity by the judge")
	x.Better = -1
	kind := "ppl"
	if m.Judge.Pseudo {
		x.Label, kind = "pseudo-perplexity by the judge", "pppl"
	}
	tokens, without := 0, 0
	var units [][]judge.Verdict
	place := map[int]int{} // of a group among the units
	for i, v := range m.set.verdicts {
		tokens += v.Tokens
		if v.Tokens == 0 {
			without++
			continue
		}
		u, known := place[m.set.groups[i]]
		if !known {
			u, units = len(units), append(units, nil)
			place[m.set.groups[i]] = u
		}
		units[u] = append(units[u], v)
	}
	if without > 0 {
		x.Warnings = append(x.Warnings, fmt.Sprintf("%d of %d sentences %s: empty, too long for the "+
			"judge, or with a blank or invalid UTF-8", without, len(m.set.verdicts),
			either(without, "is left out", "are left out")))
	}
	if tokens == 0 {
		return one(x)
	}
	x.Value = judge.Perplexity(m.set.verdicts...)
	x.Detail = fmt.Sprintf("of %d tokens", tokens)
	x.Signature = fmt.Sprintf("%s|judge:%.8s|agg:tokens|N:%d", kind,
		strings.TrimPrefix(m.Judge.Sum, "sha256:"), len(m.set.verdicts)-without)
	if m.BLEU.Confidence != nil {
		if x.Low, x.High = judge.Interval(units, m.level(), bleu.MaxBlocks); x.HasInterval() {
			x.Signature += fmt.Sprintf("|jk:%d|units:%d|ci:%g", min(len(units), bleu.MaxBlocks),
				len(units), m.level())
		} else {
			x.warn(bleu.ErrFewUnits)
		}
	}
	x.Signature += "|v:1"
	return one(x)
}
