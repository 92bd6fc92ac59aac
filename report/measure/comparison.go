package measure

import (
	"fmt"
	"math"
	"strings"
	"time"

	"infill/infill"
	"infill/internal/count"
	"infill/report/read"
)

// Comparison is what the command fills in after running several samplers on the
// same sentences with the same seeds and the same budget of model evaluations.
type Comparison struct {
	// Command is what made it, as it was typed, Model the model's name or hash,
	// Version the program's, Date the day. Empty ones are left out of the report.
	Command, Model, Version, Date string
	Seed                          uint64
	// Protocol is the budget in words, such as "25 % of words masked, 25 chains ×
	// 50 steps, last state, top 5 by likelihood".
	Protocol string
	// Budget is what the samplers have equal amounts of. A note says by how much they miss it.
	Budget infill.Budget
	// Notes are remarks of the caller that stand with those on comparability.
	Notes    []string
	Sources  []read.Source
	Samplers []SamplerRun
}

// SamplerRun is what one sampler did.
type SamplerRun struct {
	// Name is the sampler's, such as "dmala"; Params its parameters in words.
	Name, Params string
	// Sentences are in the order of Comparison.Sources and of the same number.
	Sentences []SentenceRun
	// Evaluations counts the states whose energy (with or without gradient) or masked conditional the
	// sampler asked for. Rows counts the sequences that this takes, several for an energy; 0 when
	// unknown. Steps counts the steps of all chains together.
	Evaluations, Rows, Steps int64
	// Wall is the time all sentences took.
	Wall time.Duration
	// MoveShare is the share of steps that proposed another state, in [0,1]; NaN where unknown.
	MoveShare float64
	// Acceptance is the share of accepted proposals among these, in [0,1]; NaN for samplers
	// without an acceptance step.
	Acceptance float64
	// Chains are the traces, in any order; none is allowed.
	Chains []ChainTrace
}

// SentenceRun is the result for one source sentence.
type SentenceRun struct {
	// Fillings are the kept ones, best first. A report needs their Text, Spans (ascending) and
	// Score, which is U in nats.
	Fillings []infill.Filling
	// Distinct is how many different fillings there were among the states taken, before the best
	// were kept; Total is how many states these were.
	Distinct, Total int
	// Err says why there are no fillings, "" when all went well.
	Err string
}

// ChainTrace is what one chain recorded; element k belongs to step k, 0 being the start.
type ChainTrace struct {
	// Sentence is the index of its source.
	Sentence int
	// Evaluations is how many evaluations the chain had made at its start and after
	// each step; where chains share a budget, the mean over them.
	Evaluations []float64
	// Energy is U in nats after each step. Values that are not finite are left out of means.
	Energy []float64
	// Accepted is each step's acceptance in [0,1]: 0 or 1, or a probability; NaN for the start and for
	// steps that proposed the state itself. Nil for samplers without an acceptance step.
	Accepted []float64
}

// check refuses a comparison whose parts do not fit together.
func (c *Comparison) check() error {
	if len(c.Samplers) == 0 || len(c.Sources) == 0 {
		return fmt.Errorf("%w: a comparison of %d samplers on %d sentences",
			read.ErrOption, len(c.Samplers), len(c.Sources))
	}
	seen := map[string]bool{}
	for _, s := range c.Samplers {
		if seen[s.Name] {
			return fmt.Errorf("%w: two samplers are named %q; give each its own name",
				read.ErrOption, s.Name)
		}
		seen[s.Name] = true
		if len(s.Sentences) != len(c.Sources) {
			return fmt.Errorf("%w: sampler %s has %d sentences for %d sources",
				read.ErrOption, s.Name, len(s.Sentences), len(c.Sources))
		}
		for k, x := range s.Sentences {
			for f, fill := range x.Fillings {
				at := 0
				for _, span := range fill.Spans {
					if span[0] < at || span[1] < span[0] || span[1] > len(fill.Text) {
						return fmt.Errorf("%w: sampler %s, sentence %d, filling %d: span %v of a text of %d bytes",
							read.ErrOption, s.Name, k+1, f+1, span, len(fill.Text))
					}
					at = span[1]
				}
			}
		}
		for _, t := range s.Chains {
			if t.Sentence < 0 || t.Sentence >= len(c.Sources) {
				return fmt.Errorf("%w: sampler %s has a trace of sentence %d of %d",
					read.ErrOption, s.Name, t.Sentence+1, len(c.Sources))
			}
			if len(t.Evaluations) != len(t.Energy) {
				return fmt.Errorf("%w: sampler %s has a trace of %d energies at %d numbers of evaluations",
					read.ErrOption, s.Name, len(t.Energy), len(t.Evaluations))
			}
		}
	}
	return nil
}

// maxApart is by how many percent of the smaller one budgets may differ that count as equal.
// Samplers end with whole steps, so small budgets differ by more for that alone.
const maxApart = 2

// notes are the remarks on comparability. It finds out whether the budgets are unequal. gold is the
// number of sources whose original is known, refs that of the Reference files.
func (c *Comparison) notes(out *CompareResult, gold, refs int) []string {
	notes := []string{c.fillingsNote(out)}
	if s := c.budgetNote(out); s != "" {
		notes = append(notes, s)
	}
	switch unknown := len(c.Sources) - gold; {
	case refs == 0:
		notes = append(notes,
			"no references were given: columns against references and corpus BLEU are missing")
	case unknown > 0:
		notes = append(notes, fmt.Sprintf("the original of %d of %d sentences is unknown; "+
			"if the references hold it, corpus BLEU is too high", unknown, len(c.Sources)))
	}
	return append(notes, c.Notes...)
}

// fillingsNote says how many fillings count, and whether they are equally many.
func (c *Comparison) fillingsNote(out *CompareResult) string {
	first := -1
	for _, run := range c.Samplers {
		n := 0
		for _, s := range run.Sentences {
			n += min(len(s.Fillings), out.Top)
		}
		switch {
		case first < 0:
			first = n
		case n != first:
			return "the samplers have different numbers of fillings; self-BLEU and unique n-grams " +
				"depend on the number, so their columns are not comparable"
		}
	}
	few := ""
	if first < len(c.Sources)*out.Top {
		few = " at most" // chains can end alike
	}
	return fmt.Sprintf("%d sentence%s, the best %d filling%s of each%s: N = %d sentence%s per sampler",
		len(c.Sources), count.S(len(c.Sources)), out.Top, count.S(out.Top), few, first, count.S(first))
}

// budgetNote says by how much the samplers miss equal budgets; "" if that is not known.
func (c *Comparison) budgetNote(out *CompareResult) string {
	unit := c.Budget
	if unit == infill.BudgetSteps {
		unit = infill.BudgetEvaluations
	}
	name := unit.Names()[unit]
	least, most := math.Inf(1), 0.0
	for _, row := range out.Rows {
		m, _ := row.Get(name)
		least, most = min(least, m.Value), max(most, m.Value)
	}
	between := fmt.Sprintf("%s to %s", decimal(least, 0), decimal(most, 0))
	switch {
	case !(least > 0) || len(c.Samplers) < 2:
		return ""
	case c.Budget == infill.BudgetSteps:
		return "equal numbers of steps, not of model evaluations: " + between
	case 100*(most-least) > maxApart*least:
		out.Unequal = true
		return fmt.Sprintf("unequal budgets: %s model %s, which is more than %d %% apart; sampling goes "+
			"on in whole steps, at least one and at most twenty times as many as were asked for", between,
			name, maxApart)
	}
	return fmt.Sprintf("equal budgets: %s model %s, which is at most %d %% apart; sampling ends with "+
		"the step that comes nearest", between, name, maxApart)
}

// examples picks sources spread evenly over the input, so that a file made of two
// corpora shows both.
func (c *Comparison) examples(o CompareOptions) []Example {
	want := min(o.Examples, len(c.Sources))
	var out []Example
	for k := range want {
		i := k * len(c.Sources) / want
		e := Example{Text: c.Sources[i].Text, Gold: c.Sources[i].Gold}
		for _, run := range c.Samplers {
			e.Samplers = append(e.Samplers, run.Sentences[i].example(run.Name, o.Top))
		}
		out = append(out, e)
	}
	return out
}

func (s SentenceRun) example(name string, top int) ExampleFillings {
	out := ExampleFillings{Sampler: name, Err: s.Err}
	seen := map[int]map[string]bool{}
	for k, f := range s.Fillings {
		if k == top {
			break
		}
		p := ExampleFilling{Score: Number(f.Score)}
		at := 0
		for b, span := range f.Spans {
			if at < span[0] {
				p.Parts = append(p.Parts, Part{Text: f.Text[at:span[0]]})
			}
			word := f.Text[span[0]:span[1]]
			if seen[b] == nil {
				seen[b] = map[string]bool{}
			}
			part := Part{Text: word, Generated: true, Repeated: seen[b][word]}
			seen[b][word] = true
			out.Generated++
			if part.Repeated {
				out.Repeated++
			}
			p.Parts = append(p.Parts, part)
			at = span[1]
		}
		if at < len(f.Text) {
			p.Parts = append(p.Parts, Part{Text: f.Text[at:]})
		}
		out.Texts = append(out.Texts, p)
	}
	return out
}

// ScoreText is the score as reports print it, with a real minus sign, "" without one.
func (p ExampleFilling) ScoreText() string {
	if !finite(float64(p.Score)) {
		return ""
	}
	return strings.Replace(decimal(float64(p.Score), 2), "-", "−", 1)
}
