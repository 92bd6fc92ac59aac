package text

// A Vocab names the tokens that may fill a blank, see infill.Vocab.
type Vocab int

// The values of Vocab.
const (
	VocabWords Vocab = iota
	VocabAll
	VocabWholeWords

	numVocabs
)
