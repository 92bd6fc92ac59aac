package report

import (
	"fmt"
	"math"
	"time"
)

// Comparison is what the command fills in after running several samplers on the
// same sentences with the same seeds and the same budget of model evaluations.
type Comparison struct {
	// Title heads the report; "" is "Sampler comparison".
	Title string
	// Command is the command line that made it, Model the model's name or hash,
	// Version the program's; empty ones are left out of the report.
	Command, Model, Version string
	// SecondModel names another model that scored the fillings too, "" for none;
	// Filling.SecondScore then holds its scores.
	SecondModel string
	Seed        uint64
	// Protocol is the budget in words, such as "25 % of words masked, 25 chains ×
	// 50 steps, last state, top 5 by likelihood".
	Protocol string
	Sources  []Source
	Samplers []SamplerRun
}

// Source is one sentence that was infilled.
type Source struct {
	ID string
	// Text is the sentence with its blanks as the user wrote it.
	Text string
	// Gold is the sentence before it was masked, "" when unknown. Gold sentences
	// are left out of the references and give the plane's reference line.
	Gold string
}

// SamplerRun is what one sampler did.
type SamplerRun struct {
	// Name is the sampler's, such as "dmala"; Params its parameters in words.
	Name, Params string
	// Sentences are in the order of Comparison.Sources and of the same number.
	Sentences []SentenceRun
	// Evaluations counts rows through the model (one sequence each), Gradients the
	// evaluations among them that had a backward pass.
	Evaluations, Gradients int64
	// Wall is the time all sentences took.
	Wall time.Duration
	// Acceptance is the share of accepted proposals in [0,1]; NaN for samplers
	// without an acceptance step.
	Acceptance float64
	// Chains are the traces, in any order; none is allowed.
	Chains []ChainTrace
}

// SentenceRun is the result for one source sentence.
type SentenceRun struct {
	// Fillings are the kept ones, best first.
	Fillings []Filling
	// Distinct is how many different fillings the chains ended in, before the best
	// were kept; Total is how many end states there were.
	Distinct, Total int
	// Err says why there are no fillings, "" when all went well.
	Err string
}

// Filling is one filled sentence.
type Filling struct {
	Text string
	// Spans are the filled places as byte ranges of Text, ascending, one per blank.
	Spans [][2]int
	// Score is U, the pseudo-log-likelihood in nats, under the sampled model, and
	// SecondScore under Comparison.SecondModel.
	Score, SecondScore float64
}

// ChainTrace is what one chain recorded; element k belongs to step k+1.
type ChainTrace struct {
	// Sentence is the index of its source.
	Sentence int
	// Energy is U in nats after each step. Values that are not finite are left out
	// of means.
	Energy []float64
	// Accepted is each step's acceptance in [0,1]: 0 or 1, or a probability. Nil for
	// samplers without an acceptance step.
	Accepted []float64
}

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

// check refuses a comparison whose parts do not fit together.
func (c *Comparison) check() error {
	if len(c.Samplers) == 0 || len(c.Sources) == 0 {
		return fmt.Errorf("%w: a comparison of %d samplers on %d sentences", ErrOption, len(c.Samplers), len(c.Sources))
	}
	seen := map[string]bool{}
	for _, s := range c.Samplers {
		if seen[s.Name] {
			return fmt.Errorf("%w: two samplers are named %q; give each its own name", ErrOption, s.Name)
		}
		seen[s.Name] = true
		if len(s.Sentences) != len(c.Sources) {
			return fmt.Errorf("%w: sampler %s has %d sentences for %d sources", ErrOption, s.Name, len(s.Sentences), len(c.Sources))
		}
		for k, x := range s.Sentences {
			for f, fill := range x.Fillings {
				at := 0
				for _, span := range fill.Spans {
					if span[0] < at || span[1] < span[0] || span[1] > len(fill.Text) {
						return fmt.Errorf("%w: sampler %s, sentence %d, filling %d: span %v of a text of %d bytes", ErrOption, s.Name, k+1, f+1, span, len(fill.Text))
					}
					at = span[1]
				}
			}
		}
		for _, t := range s.Chains {
			if t.Sentence < 0 || t.Sentence >= len(c.Sources) {
				return fmt.Errorf("%w: sampler %s has a trace of sentence %d of %d", ErrOption, s.Name, t.Sentence+1, len(c.Sources))
			}
		}
	}
	return nil
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
	m = newMetric("evaluations", "model evaluations")
	m.Value, m.Decimals = float64(run.Evaluations), 0
	if run.Gradients > 0 {
		m.Detail = fmt.Sprintf("%d with a backward pass", run.Gradients)
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

// notes are the remarks on comparability.
func (c *Comparison) notes(out *CompareResult, gold, refs int) []string {
	var notes []string
	counts := map[int]bool{}
	least, most := math.Inf(1), 0.0
	for i, run := range c.Samplers {
		n := 0
		for _, s := range run.Sentences {
			n += min(len(s.Fillings), out.Top)
		}
		counts[n] = true
		m, _ := out.Rows[i].Get("evaluations")
		least, most = min(least, m.Value), max(most, m.Value)
		if i == 0 {
			notes = append(notes, fmt.Sprintf("%d sentences, the best %d fillings of each: N = %d sentences per sampler", len(c.Sources), out.Top, n))
		}
	}
	if len(counts) > 1 {
		notes[0] = "the samplers have different numbers of fillings; self-BLEU and unique n-grams depend on the number, so their columns are not comparable"
	}
	if least > 0 && most > 1.1*least {
		notes = append(notes, fmt.Sprintf("the samplers used unequal budgets: %s to %s model evaluations", decimal(least, 0), decimal(most, 0)))
	}
	if refs == 0 {
		notes = append(notes, "no references were given: columns against references and corpus BLEU are missing")
	} else if gold < len(c.Sources) {
		notes = append(notes, fmt.Sprintf("the original of %d of %d sentences is unknown; if the references hold it, corpus BLEU is too high", len(c.Sources)-gold, len(c.Sources)))
	}
	return notes
}

// trace averages the chains: first over the chains of a sentence, then over
// sentences, so that sentences with more chains do not count more.
func (run *SamplerRun) trace(sources int) Trace {
	steps := 0
	for _, t := range run.Chains {
		steps = max(steps, len(t.Energy), len(t.Accepted))
	}
	out := Trace{Sampler: run.Name, Chains: len(run.Chains)}
	per := 1.0
	if run.Evaluations > 0 && steps > 0 {
		out.Evaluations = true
		per = float64(run.Evaluations) / float64(len(run.Chains)) / float64(steps)
	}
	for k := range steps {
		out.X = append(out.X, per*float64(k+1))
		sums, counts := make([]float64, sources), make([]float64, sources)
		accepted, n := 0.0, 0.0
		for _, t := range run.Chains {
			if k < len(t.Energy) && !math.IsNaN(t.Energy[k]) && !math.IsInf(t.Energy[k], 0) {
				sums[t.Sentence] += t.Energy[k]
				counts[t.Sentence]++
			}
			if k < len(t.Accepted) {
				accepted += t.Accepted[k]
				n++
			}
		}
		var means []float64
		for i := range sums {
			if counts[i] > 0 {
				means = append(means, sums[i]/counts[i])
			}
		}
		m, se := meanError(means)
		out.Energy = append(out.Energy, m)
		out.Error = append(out.Error, se)
		if n > 0 {
			out.Acceptance = append(out.Acceptance, accepted/n)
		}
	}
	return out
}

// meanError returns the mean and its standard error, NaN and 0 for no values.
func meanError(x []float64) (mean, se float64) {
	if len(x) == 0 {
		return math.NaN(), 0
	}
	for _, v := range x {
		mean += v / float64(len(x))
	}
	if len(x) < 2 {
		return mean, 0
	}
	for _, v := range x {
		se += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(se / float64(len(x)-1) / float64(len(x)))
}
