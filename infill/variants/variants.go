// Package variants makes other texts of one: words of it are masked and filled again, put in or
// taken out, in rounds, until there are as many as are wanted.
package variants

import (
	"fmt"

	"infill/infill"
	"infill/infill/text"
)

// Max bounds each number of [Options].
const Max = 1000

// Default are five, each of other masked words.
func Default() Options { return Options{Count: 5, PerMasking: 1, ExtraRounds: 3} }

// An Action is what makes a variant of a text.
type Action int

const (
	// Substitute fills other words into the places of some.
	Substitute Action = iota
	// Insert fills words in between two others each. Which places a Masking may take its Class does
	// not say.
	Insert
	// Delete takes words out. The sentence that is left scores at least as much per token as the whole
	// one, or less by at most Filter.MaxDrop. Its score covers all its tokens.
	Delete
)

// Names lists the words for the values of Action, in their order.
func (Action) Names() []string { return []string{"substitute", "insert", "delete"} }

// Options say how many different texts [New] makes of one.
type Options struct {
	Count      int // 1 to Max
	PerMasking int // variants to take from one choice of masked words; 0: any number
	// ExtraRounds is how many further choices of words may be masked if variants are missing: 0 to
	// Max. Without a bound a text of few words would be tried for ever.
	ExtraRounds int
	Action      Action
}

// Check refuses numbers out of range; the error is ErrOption.
func (v Options) Check() error {
	switch {
	case v.Count < 1 || v.Count > Max:
		return fmt.Errorf("%w: %d variants, want 1 to %d", text.ErrOption, v.Count, Max)
	case v.PerMasking < 0 || v.PerMasking > Max:
		return fmt.Errorf("%w: %d variants of one masking, want 0 to %d", text.ErrOption, v.PerMasking,
			Max)
	case v.ExtraRounds < 0 || v.ExtraRounds > Max:
		return fmt.Errorf("%w: %d extra rounds, want 0 to %d", text.ErrOption, v.ExtraRounds,
			Max)
	case v.Action < Substitute || v.Action > Delete:
		return fmt.Errorf("%w: action %d, want Substitute, Insert or Delete", text.ErrOption, v.Action)
	}
	return nil
}

// deleteRounds is how many choices of words are tried for one that a sentence can do without.
const deleteRounds = 4

// rounds is the most rounds that are made.
func (v Options) rounds() int {
	switch {
	case v.Action == Delete: // a round has one at most, and is cheap
		return deleteRounds*v.Count + v.ExtraRounds
	case v.PerMasking == 0:
		return 1 + v.ExtraRounds
	}
	return (v.Count+v.PerMasking-1)/v.PerMasking + v.ExtraRounds
}

// A Variant is a text in which some words were masked and filled again.
type Variant struct {
	infill.Filling
	Round         int      // in which it was found, from 0; rounds have different seeds
	Groups        []int    // see Result.Groups
	Blanked       string   // the text with blanks
	Masked        []string // the words that stood in them, "" of those that were put in
	OriginalScore *float64 // see Result.OriginalScore; after Delete that of the whole sentence
	// Places are the bytes of the text before that are others now, and Became what they are in Text.
	Places, Became [][2]int
}

// Rounds finds variants of one text, round by round. In each round words are masked and filled as
// [infill.Engine.Fill] does, with seeds of its own. A round is computed when it is needed, and
// once. Rounds is not safe for concurrent use.
type Rounds struct {
	e       *infill.Engine
	text    string
	masking text.Masking
	opt     infill.Options
	want    Options
	done    [][]Variant     // best first
	cause   error           // the first error of a round that another round may not have
	whole   *infill.Score   // of the text; nil: not asked for yet
	tried   map[string]bool // what was left of the text after words were taken out
}

// New prepares to make variants of a text. Seed, ID and the number of a round decide its
// randomness. Results.Top, Results.All and Words.Original are not used.
func New(e *infill.Engine, text string, m text.Masking, opt infill.Options, want Options) *Rounds {
	return &Rounds{e: e, text: text, masking: m, opt: opt, want: want}
}
