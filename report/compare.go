package report

import (
	"fmt"
	"math"
)

// CompareOptions are the options of [Compare].
type CompareOptions struct {
	Options
	// Top is how many fillings of each sentence count, best first; 0 is 5. (--top)
	Top int
	// Examples is how many source sentences the report shows; 0 is 3, negative none.
	Examples int
}

// CompareResult is DLP's Table 3 for the samplers, with what stands beside it.
type CompareResult struct {
	Title      string      `json:"title"`
	Command    string      `json:"command,omitempty"`
	Model      string      `json:"model,omitempty"`
	Second     string      `json:"second_model,omitempty"`
	Version    string      `json:"version,omitempty"`
	Protocol   string      `json:"protocol,omitempty"`
	Seed       uint64      `json:"seed"`
	Sentences  int         `json:"sentences"`
	Top        int         `json:"top"`
	References []Reference `json:"references"`
	Rows       []Row       `json:"rows"`
	// Gold is the corpus BLEU of the original sentences, for scale.
	Gold *Metric `json:"gold,omitempty"`
	// Traces are the means over chains, one per sampler that recorded any.
	Traces   []Trace   `json:"traces,omitempty"`
	Examples []Example `json:"examples,omitempty"`
	Params   []string  `json:"params"`
	Notes    []string  `json:"notes,omitempty"`
}

// Trace is the mean course of a sampler's chains.
type Trace struct {
	Sampler string `json:"sampler"`
	// X is model evaluations per chain at each step, or the step number where the
	// evaluations are unknown.
	X           Series `json:"x"`
	Evaluations bool   `json:"x_is_evaluations"`
	// Energy is the mean over sentences of the mean over chains, in nats, and Error
	// its standard error over sentences.
	Energy Series `json:"energy"`
	Error  Series `json:"energy_se"`
	// Acceptance is the mean acceptance at each step, nil without.
	Acceptance Series `json:"acceptance,omitempty"`
	Chains     int    `json:"chains"`
}

// Compare measures the fillings of every sampler against the references and
// against each other.
func Compare(c *Comparison, refs []Input, o CompareOptions) (*CompareResult, error) {
	if o.Top == 0 {
		o.Top = 5
	}
	if o.Top < 0 {
		return nil, fmt.Errorf("%w: top %d fillings (want 1 or more)", ErrOption, o.Top)
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	gold := 0
	for _, s := range c.Sources {
		if s.Gold != "" {
			o.Exclude = append(o.Exclude[:len(o.Exclude):len(o.Exclude)], s.Gold)
			gold++
		}
	}
	p, err := o.plan([]int{2, 3})
	if err != nil {
		return nil, err
	}
	r, err := p.readReferences(refs, false)
	if err != nil {
		return nil, err
	}
	out := &CompareResult{
		Title: c.Title, Command: c.Command, Model: c.Model, Second: c.SecondModel, Version: c.Version, Protocol: c.Protocol,
		Seed: c.Seed, Sentences: len(c.Sources), Top: o.Top, References: r.info,
	}
	if out.Title == "" {
		out.Title = "Sampler comparison"
	}
	for i := range c.Samplers {
		run := &c.Samplers[i]
		row, err := p.compareRow(run, r, o.Top, c.SecondModel != "")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", run.Name, err)
		}
		out.Rows = append(out.Rows, row)
		out.Params = append(out.Params, run.Params)
		if len(run.Chains) > 0 {
			out.Traces = append(out.Traces, run.trace(len(c.Sources)))
		}
	}
	if gold == len(c.Sources) && len(refs) > 0 {
		s := p.newSet("gold", r.vocab)
		for _, x := range c.Sources {
			if err := s.add(Sentence{Text: x.Gold}); err != nil {
				return nil, err
			}
		}
		m := p.bleuAgainst(s, "bleu.gold", "corpus BLEU of the original sentences", r.all)
		out.Gold = &m
	}
	out.Notes = c.notes(out, gold, len(refs))
	out.Examples = c.examples(o)
	return out, nil
}

// signed lists the signatures of the table and of the original sentences' score.
func (r *CompareResult) signed() []signed {
	out := signatures(r.Rows)
	if r.Gold != nil && r.Gold.Signature != "" {
		out = append(out, signed{Heading: r.Gold.Label, Signature: r.Gold.Signature})
	}
	return out
}

func (r *CompareResult) allWarnings() []string {
	out := warnings(r.Rows)
	if r.Gold != nil {
		for _, w := range r.Gold.Warnings {
			out = append(out, r.Gold.Label+": "+w)
		}
	}
	return out
}

// compareRow computes one sampler's columns.
func (p *plan) compareRow(run *SamplerRun, r *references, top int, second bool) (Row, error) {
	s := p.newSet(run.Name, r.vocab)
	distinct, total, failed := 0, 0, 0
	var blank, other mean
	for i, x := range run.Sentences {
		distinct += x.Distinct
		total += x.Total
		if x.Err != "" {
			failed++
		}
		for k, f := range x.Fillings {
			if k == top {
				break
			}
			score := f.Score
			if n := float64(len(f.Spans)); n > 0 {
				perBlank, second := f.Score/n, f.SecondScore/n
				blank.add(&perBlank)
				other.add(&second)
			}
			if err := s.add(Sentence{Text: f.Text, Group: i, Score: &score}); err != nil {
				return Row{}, err
			}
		}
	}
	row := Row{Name: run.Name}
	add := func(m Metric) { row.Metrics = append(row.Metrics, m) }
	self := p.selfBLEU(s)
	if failed > 0 {
		self.Warnings = append(self.Warnings, fmt.Sprintf("%d of %d sentences could not be filled", failed, len(run.Sentences)))
	}
	add(self)
	unique, _ := p.unique(s, r)
	for _, m := range unique {
		add(m)
	}
	if r.all != nil {
		add(p.bleuAgainst(s, "bleu", "corpus BLEU", r.all))
	}
	m := newMetric("acceptance", "accepted")
	m.Unit = "%"
	m.Decimals = 1
	if !math.IsNaN(run.Acceptance) {
		m.Value = 100 * run.Acceptance
	}
	m.Detail = "share of accepted proposals; n/a for samplers without an acceptance step"
	add(m)
	m = newMetric("distinct_fillings", "distinct fillings")
	m.Unit, m.Decimals, m.Better = "%", 1, +1
	if total > 0 {
		m.Value = 100 * float64(distinct) / float64(total)
		m.Detail = fmt.Sprintf("%d different of %d end states, counted per sentence", distinct, total)
	} else {
		m.Warnings = []string{"no end states were recorded"}
	}
	add(m)
	add(scoreMetric("score", "mean score", "pseudo-log-likelihood of the kept fillings", s.score))
	add(scoreMetric("score_per_blank", "score per blank", "mean over the fillings of their score per blank", blank))
	if second {
		add(scoreMetric("second_score_per_blank", "second model, per blank", "the same under the second model", other))
	}
	m = newMetric("evaluations", "evaluations")
	m.Value, m.Decimals = float64(run.Evaluations), 0
	if run.Gradients > 0 {
		m.Detail = fmt.Sprintf("%d with a backward pass", run.Gradients)
	}
	add(m)
	m = newMetric("rows", "rows")
	m.Decimals = 0
	m.Detail = "sequences that the evaluations take: an energy one for every masked token, a conditional one"
	if run.Rows > 0 {
		m.Value = float64(run.Rows)
	}
	add(m)
	m = newMetric("steps", "steps")
	m.Decimals = 1
	m.Detail = "mean over all chains"
	if chains := total; run.Steps > 0 && chains > 0 {
		m.Value = float64(run.Steps) / float64(chains)
	}
	add(m)
	m = newMetric("wall", "wall time")
	m.Value, m.Unit, m.Decimals, m.Better = run.Wall.Seconds(), "s", 1, -1
	add(m)
	return row, nil
}

// scoreMetric is a column of mean scores.
func scoreMetric(key, label, detail string, x mean) Metric {
	m := newMetric(key, label)
	m.Unit, m.Better, m.Detail = "nats", +1, detail
	switch {
	case x.n == 0:
		m.Warnings = []string{"no fillings"}
	case !finite(x.sum):
		m.Warnings = []string{"a filling has no finite score"}
	default:
		m.Value = x.sum / float64(x.n)
		m.Signature = fmt.Sprintf("pll|agg:mean|N:%d|v:1", x.n)
	}
	return m
}
