package jsonl

import (
	"math"
	"slices"

	"infill/infill"
	"infill/tokenize"
)

// A Step is a line of a trace: one step of all chains of a sentence.
type Step struct {
	// Sampler names one of several samplers; "" where there is one.
	Sampler string `json:"sampler,omitempty"`
	// ID is the id of the sentence, Line its number; the other one is left out.
	ID   string `json:"id,omitempty"`
	Line int    `json:"line,omitempty"`
	// Step is the number of the step; 0 is the start.
	Step int `json:"step"`
	// Energy is the energy of every chain in nats, null where the sampler computes none.
	Energy []*float64 `json:"energy"`
	// Proposed says to which chains another state was proposed, Accepted which of them went there.
	// The start has neither.
	Proposed []bool `json:"proposed,omitempty"`
	Accepted []bool `json:"accepted,omitempty"`
	// States are the pieces in the blanks of every chain.
	States [][]string `json:"states"`
}

// Fill puts a step of the engine into the line. Tokens are spelt with tok.
func (l *Step) Fill(tok *tokenize.Tokenizer, s infill.Step) {
	l.Step, l.Energy, l.States = s.Step, nil, nil
	l.Proposed, l.Accepted = slices.Clone(s.Proposed), slices.Clone(s.Accepted)
	for k, u := range s.Energy {
		l.Energy = append(l.Energy, Finite(u))
		var words []string
		for _, id := range s.Tokens(k) {
			words = append(words, tok.Token(id))
		}
		l.States = append(l.States, words)
	}
}

// Finite is a number for JSON, nil if it is not finite.
func Finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Tokens are the tokens of a text.
type Tokens struct {
	Line   int      `json:"line"`
	Text   string   `json:"text"`
	IDs    []int32  `json:"ids"`
	Tokens []string `json:"tokens"`
	// Offsets are the bytes of the tokens in Text, from and to.
	Offsets [][2]int `json:"offsets"`
}
