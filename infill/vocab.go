package infill

// A Vocab names the tokens that may fill a blank.
type Vocab int

const (
	// VocabWords allows what begins a word with a letter or digit, and in blanks of
	// several tokens what continues one. Directly after a letter or another
	// blank it is VocabAll: whatever continues the word, or ends it. Punctuation
	// in a blank that stands apart is asked for: by VocabAll, by the blank
	// ([MASK.]), or by its list.
	VocabWords Vocab = iota
	// VocabAll allows every token that can stand where the blank stands:
	// after white space or punctuation whatever begins a word or is punctuation,
	// directly after a letter or another blank whatever continues a word. Special
	// and unused tokens never.
	VocabAll
	// VocabWholeWords allows only words made of letters. Directly after a
	// letter these are the pieces of letters that go on with the word. Blanks
	// with a list of their own take it as it is.
	VocabWholeWords

	numVocabs
)
