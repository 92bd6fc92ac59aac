package text

// A Vocab names the tokens that may fill a blank, see infill.Vocab.
type Vocab int

// The values of Vocab.
const (
	VocabWords Vocab = iota
	VocabAll
	VocabWholeWords

	// What blanks take for themselves: VocabDigits are words and what has digits, VocabNumbers are
	// digits alone, and VocabWholeNumbers are whole words and those.
	VocabDigits
	VocabNumbers
	VocabWholeNumbers

	numVocabs
)

// Names lists the words for the values, in their order.
func (Vocab) Names() []string { return []string{"words", "all", "whole-words"} }
