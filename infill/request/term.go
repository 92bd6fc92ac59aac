package request

import (
	"context"
	"fmt"
	"math"
	"slices"

	"infill/infill/text"
)

// A Term is a part of an energy that judges finished texts: a classifier, a second model, a list of
// words, the distance from the text before. With [WordOptions.Terms] the energy is
//
//	U(θ) = U₁(θ) + Σ_k λ_k U_k(text of θ)
//
// U₁ is the pseudo-log-likelihood of the engine's model, and λ_k the weights. A product of
// experts (Hinton, "Training products of experts by minimizing contrastive divergence", Neural
// Computation 14, 2002) is such a sum. Samplers propose by U₁, and their acceptance step makes
// π ∝ exp(U/T) of it.
//
// A term is safe for concurrent use. Its values depend on the text alone, bit by bit: not on the
// texts beside it, nor on earlier questions.
type Term interface {
	// Name is the term's name in results. It is not empty and not "model", which is U₁.
	Name() string
	// Rows is about how many sequences of a neural network the value of a text takes, 0 for none.
	// It bounds the exact computation, see maxExactRows.
	Rows() int
	// Values sets v[k] to the value of texts[k], in nats before the weight. v has the length of
	// texts, and zeros. Values are finite. A state whose value is not is refused and counted, as one
	// whose energy is not a number. The first state of a chain, or all that are computed, end the
	// call with an error that names the term. Values may be called in several goroutines. A panic in
	// one comes out of Fill, where the caller can recover it.
	Values(ctx context.Context, texts []Finished, v []float64) error
}

// A Bounded term has values of at most Most nats. A search gives up fillings that cannot get among
// the best ones, which it knows only if each term that asks a neural network is bounded.
type Bounded interface {
	Term
	Most() float64
}

// A Finished text is one whose blanks are filled, as results have it.
type Finished struct {
	Text  string
	Spans [][2]int // byte span in Text of what fills each blank, ascending
	// Original are the words that stood in the blanks before, see Options.Words.Original; nil where
	// nothing did.
	Original []string
}

// Before is the text with the words that stood in the blanks, "" where nothing did.
func (f Finished) Before() string {
	if len(f.Original) == 0 || len(f.Original) != len(f.Spans) {
		return ""
	}
	before, _ := text.Restored(f.Text, f.Spans, f.Original)
	return before
}

// A Weighted is a term with its weight.
type Weighted struct {
	Term   Term
	Weight float64 // λ: finite. Below 0 it makes likelier what the term makes unlikely
}

// ModelEnergy is the name of U₁ in Filling.Energies.
const ModelEnergy = "model"

// MaxWeight bounds the size of a weight.
const MaxWeight = 1e6

// CheckTerms finds faults of terms before anything is computed.
func CheckTerms(terms []Weighted) error {
	var names []string
	for i, w := range terms {
		if w.Term == nil {
			return fmt.Errorf("%w: part %d of the energy is missing", text.ErrOption, i+1)
		}
		name := w.Term.Name()
		switch {
		case name == "" || name == ModelEnergy:
			return fmt.Errorf("%w: a part of the energy is called %q", text.ErrOption, name)
		case slices.Contains(names, name):
			return fmt.Errorf("%w: two parts of the energy are called %q; add their weights", text.ErrOption,
				name)
		case !(math.Abs(w.Weight) <= MaxWeight):
			return fmt.Errorf("%w: the part %s of the energy has the weight %v, want a number from %v to %v",
				text.ErrOption, name, w.Weight, -MaxWeight, MaxWeight)
		}
		names = append(names, name)
	}
	return nil
}
