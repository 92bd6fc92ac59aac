package request

import "slices"

// Start says where chains begin.
type Start int

const (
	// StartMasked draws every blank by itself from what the model says with all blanks masked.
	StartMasked Start = iota
	// StartArgmax takes the likeliest token of every blank, all blanks masked, for all chains: the
	// protocol of DISCS (Goshvadi and others, NeurIPS 2023). Where constraints forbid these together
	// it is the first state that they allow, the likeliest tokens of the first blanks first.
	StartArgmax
	// StartOriginal takes the words that stood in the blanks, Options.Words.Original.
	StartOriginal
	// StartRandom draws uniformly from all states that the constraints allow. Where fewer than one
	// state in ten thousand is allowed, it fills blank after blank at random and goes back where
	// nothing fits, which is not uniform.
	StartRandom
)

// Names lists the words for the values of Start, in their order.
func (Start) Names() []string { return slices.Clone(startNames) }

var startNames = []string{"masked", "argmax", "original", "random"}

// String returns the word.
func (s Start) String() string { return nameOf(startNames, "start", s) }

// Begin is the word for where chains begin: that of Start, or "given" for Starts.
func (s *SamplingOptions) Begin() string {
	if s.Starts != nil {
		return "given"
	}
	return s.Start.String()
}
