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

// losses are the numbers of a judge: its loss by token, character and word, each on its scale.
// Of samplers there is the first alone.
var losses = []struct {
	key, label, kind, over string
	per                    func(judge.Verdict) int
	scale                  func(nats float64) float64
}{
	{"judge_perplexity", "perplexity", "ppl", "tokens",
		func(v judge.Verdict) int { return v.Tokens }, math.Exp},
	{"judge_bits_per_character", "bits per character", "bpc", "characters",
		func(v judge.Verdict) int { return v.Characters },
		func(nats float64) float64 { return nats / math.Ln2 }},
	{"judge_nats_per_word", "nats per word", "npw", "words",
		func(v judge.Verdict) int { return v.Words }, func(nats float64) float64 { return nats }},
}

// judgements are the numbers that a judge gives the texts.
func judgements(m *measured) (out []Metric, err error) {
	if m.Judge == nil {
		return nil, nil
	}
	var units [][]judge.Verdict
	place := map[int]int{} // of a group among the units
	judged := 0
	for i, v := range m.set.verdicts {
		if v.Tokens == 0 {
			continue
		}
		judged++
		u, known := place[m.set.groups[i]]
		if !known {
			u, units = len(units), append(units, nil)
			place[m.set.groups[i]] = u
		}
		units[u] = append(units[u], v)
	}
	for _, l := range losses {
		pseudo := ""
		if m.Judge.Pseudo {
			pseudo = "pseudo-"
		}
		x := newMetric(l.key, pseudo+l.label+" by the judge", "", 2, -1)
		if judged > 0 {
			n := 0
			for _, v := range m.set.verdicts {
				n += l.per(v)
			}
			x.Detail = fmt.Sprintf("of %d %s", n, l.over)
			x.Value = l.scale(judge.Loss(l.per, m.set.verdicts...))
			x.Signature = fmt.Sprintf("%.1s%s|judge:%.8s|agg:%s|N:%d", pseudo, l.kind,
				strings.TrimPrefix(m.Judge.Sum, "sha256:"), l.over, judged)
			if m.BLEU.Confidence != nil {
				low, high := judge.Interval(l.per, units, m.level(), bleu.MaxBlocks)
				if x.Low, x.High = l.scale(low), l.scale(high); x.HasInterval() {
					x.Signature += fmt.Sprintf("|jk:%d|units:%d|ci:%g", min(len(units), bleu.MaxBlocks),
						len(units), m.level())
				}
			}
			x.Signature += "|v:1"
		}
		if out = append(out, x); m.eval == nil {
			break
		}
	}
	x := &out[0]
	if left := len(m.set.verdicts) - judged; left > 0 {
		x.Warnings = append(x.Warnings, fmt.Sprintf("%d of %d sentences %s: empty, too long for the "+
			"judge, or with a blank or invalid UTF-8", left, len(m.set.verdicts),
			either(left, "is left out", "are left out")))
	}
	if m.BLEU.Confidence != nil && judged > 0 && !x.HasInterval() {
		x.warn(bleu.ErrFewUnits)
	}
	return out, nil
}
