package report

import (
	"fmt"
	"slices"
	"strings"

	"infill/internal/student"
	"infill/metrics/bleu"
)

// differences are what the metrics of every sampler but the first have over those of the first, nil
// where there is nothing to pair: one sampler, or one sentence with fillings.
//
// All samplers filled the same sentences, and most of what a metric varies by is the choice of
// these. The interval is a jackknife of the difference over the sentences, in at most
// [bleu.MaxBlocks] blocks, so that what both samplers share does not widen it.
func (p *Prepared) differences(c *Comparison) ([]Row, error) {
	filled := c.filled()
	n := min(len(filled), bleu.MaxBlocks)
	if len(c.Samplers) < 2 || n < 2 {
		return nil, nil
	}
	single := *p.plan // without the intervals of each sampler
	single.bleu.Confidence = nil
	all, err := p.rowsOf(&single, c, filled)
	if err != nil {
		return nil, err
	}
	without := make([][]Row, n) // of a block
	for k := range without {
		low, high := k*len(filled)/n, (k+1)*len(filled)/n
		rest := append(append([]int{}, filled[:low]...), filled[high:]...)
		if without[k], err = p.rowsOf(&single, c, rest); err != nil {
			return nil, err
		}
	}
	level := p.plan.level()
	out := make([]Row, len(all)-1)
	for i := range out {
		out[i].Name = all[i+1].Name
		for j, m := range all[i+1].Metrics {
			less := make([]float64, n)
			for k, rows := range without {
				less[k] = rows[i+1].Metrics[j].Value - rows[0].Metrics[j].Value
			}
			m.less, m.Detail, m.Warnings = true, "", nil
			m.unlike = m.Signature != all[0].Metrics[j].Signature
			m.Value -= all[0].Metrics[j].Value
			if half := student.Jackknife(level, less); finite(half) && m.OK() {
				m.Low, m.High = m.Value-half, m.Value+half
			}
			if m.Signature != "" {
				m.Signature = fmt.Sprintf("%s|less:%s|jk:%d|units:%d|ci:%g|v:1",
					strings.TrimSuffix(m.Signature, "|v:1"), all[0].Name, n, len(filled), level)
			}
			out[i].Metrics = append(out[i].Metrics, m)
		}
	}
	return out, nil
}

// level is the coverage of the intervals.
func (p *plan) level() float64 {
	if p.Level == 0 {
		return bleu.DefaultLevel
	}
	return p.Level
}

// filled are the sources with a filling by some sampler.
func (c *Comparison) filled() []int {
	var out []int
	for i := range c.Sources {
		for _, run := range c.Samplers {
			if len(run.Sentences[i].Fillings) > 0 {
				out = append(out, i)
				break
			}
		}
	}
	return out
}

// rowsOf are the metrics that have differences, of the samplers on some of the sources.
func (p *Prepared) rowsOf(plan *plan, c *Comparison, sources []int) ([]Row, error) {
	out := make([]Row, len(c.Samplers))
	for s := range out {
		run := SamplerRun{Name: c.Samplers[s].Name}
		for _, i := range sources {
			run.Sentences = append(run.Sentences, c.Samplers[s].Sentences[i])
		}
		var err error
		out[s], err = plan.compareRow(&run, p.refs, p.o.Top, c.SecondModel != "", paired)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", run.Name, err)
		}
		if plan.SelfBLEU == string(bleu.FirstN) {
			// Others take the place of those that are left out, so that nothing is learnt of them.
			out[s].Metrics = slices.DeleteFunc(out[s].Metrics, func(m Metric) bool {
				return m.Key == keySelfBLEU
			})
		}
	}
	return out, nil
}

// differenceNote says what the differences are, "" without any.
func (r *CompareResult) differenceNote() string {
	if len(r.Differences) == 0 {
		return ""
	}
	return fmt.Sprintf("difference from %s on the same sentences, ± half of an interval of level %g",
		r.Rows[0].Name, r.level)
}

// sentence is a remark as a sentence.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// apartNote says which differences are marked.
const apartNote = "Bold: the interval is without 0, and the columns can be compared."

// apart says whether a difference of what can be compared has an interval without 0.
func (m Metric) apart() bool {
	return m.less && !m.unlike && m.HasInterval() && (m.Low > 0 || m.High < 0)
}
