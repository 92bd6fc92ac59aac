package infill

import (
	"context"
	"fmt"
	"math"

	"infill/infill/text"
)

// Edit is the term that keeps fillings near the words that stood in the blanks. Its value is
//
//	−Σ over the blanks of the Levenshtein distance to the original word
//
// in characters, without regard to case: 0 for the original, one nat less for every character
// inserted, deleted or replaced. A weight below 0 drives fillings away.
type Edit struct{}

// Name implements [Term].
func (Edit) Name() string { return "edit" }

// Rows implements [Term].
func (Edit) Rows() int { return 0 }

// Values implements [Term]. The error is ErrOption for a text of unknown original.
func (Edit) Values(_ context.Context, texts []Finished, v []float64) error {
	for k, f := range texts {
		if len(f.Original) != len(f.Spans) {
			return ErrNoOriginal
		}
		v[k] = 0
		for i, s := range f.Spans {
			v[k] -= float64(text.EditDistance(f.Text[s[0]:s[1]], f.Original[i], math.MaxInt))
		}
	}
	return nil
}

// ErrNoOriginal is returned by terms that compare with the words that stood in the blanks, where
// nothing did. It wraps ErrOption.
var ErrNoOriginal = fmt.Errorf("%w: the words that stood in the blanks are not known; "+
	"have words of a complete text masked", text.ErrOption)
