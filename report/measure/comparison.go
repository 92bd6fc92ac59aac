package measure

import (
	"fmt"
	"time"

	"infill/infill"
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
	// Energy is U in nats after each step. Values that are not finite are left out
	// of means.
	Energy []float64
	// Accepted is each step's acceptance in [0,1]: 0 or 1, or a probability; NaN for
	// the start and for steps that proposed the state itself. Nil for samplers without an
	// acceptance step.
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
