package request

import (
	"errors"
	"fmt"
	"math"

	"infill/infill/text"
)

// ErrFiltered is returned when a filter refuses all fillings that were found.
var ErrFiltered = errors.New("no filling passes the filters")

// A Filter refuses fillings by comparing their text with the text before words were masked, the
// original. Options.Words.Original has those words, one for every blank. The zero value refuses
// none.
//
// A filter chooses among fillings that were found. A constraint, such as Options.Words.MinDistance,
// decides where the search goes.
type Filter struct {
	// MinEdits and MaxEdits bound the Levenshtein distance of the filled text from the original, in
	// characters and without regard to case. 0 is any; both are at most 1,000,000.
	MinEdits, MaxEdits int
	// MaxDrop is by how many nats a filling may score below the original words in their places,
	// Result.OriginalScore, which is of Options.Results.Score. A negative drop asks for a better
	// score. nil is any.
	MaxDrop *float64
	// Similarity measures a filled text against the original, as the cosine of an encoder in package
	// infill/energies does; nil: Filling.Similarity is not known. MinSimilarity and MaxSimilarity
	// bound it, nil is any. A similarity that is not a number is refused.
	Similarity                   Term
	MinSimilarity, MaxSimilarity *float64
}

func (f *Filter) On() bool { return *f != Filter{} }

func (f *Filter) check() error {
	switch {
	case f.MaxEdits > 0 && f.MinEdits > f.MaxEdits:
		return fmt.Errorf("%w: greatest edit distance %d, want at least the least, %d", text.ErrOption,
			f.MaxEdits, f.MinEdits)
	case f.MaxDrop != nil && (math.IsNaN(*f.MaxDrop) || math.IsInf(*f.MaxDrop, 0)):
		return fmt.Errorf("%w: a drop of %v nats, want a finite number", text.ErrOption, *f.MaxDrop)
	case f.Similarity == nil && (f.MinSimilarity != nil || f.MaxSimilarity != nil):
		return fmt.Errorf("%w: a similarity is bounded, and nothing measures it", text.ErrOption)
	}
	least, most := math.Inf(-1), math.Inf(1)
	if f.MinSimilarity != nil {
		least = *f.MinSimilarity
	}
	if f.MaxSimilarity != nil {
		most = *f.MaxSimilarity
	}
	if !(least <= most) {
		return fmt.Errorf("%w: greatest similarity %v, want at least the least, %v", text.ErrOption, most,
			least)
	}
	return nil
}
