package text

// A Vocab names the tokens that may fill a blank.
type Vocab int

const (
	// VocabWords allows what begins a word with a letter and has no digit, and in blanks of
	// several tokens what continues one. Directly after a letter or another
	// blank it is VocabAll but for digits: whatever continues the word, or ends it. Punctuation
	// in a blank that stands apart is asked for: by VocabAll, by the blank
	// ([MASK.]), or by its list. So are numbers: by VocabAll, [MASK#], a list, an expression with
	// digits, digits or signs such as $ beside the blank, or a masked word that has some. Directly
	// beside an ideograph or kana it allows such characters only, unless the blank has an expression.
	VocabWords Vocab = iota
	// VocabAll allows every token that can stand where the blank stands:
	// after white space or punctuation whatever begins a word or is punctuation,
	// directly after a letter or another blank whatever continues a word. Special
	// and unused tokens never.
	VocabAll
	// VocabWholeWords allows only words made of letters, and VocabWords' characters beside
	// ideographs. Directly after a
	// letter these are the pieces of letters that go on with the word. Blanks
	// with a list of their own take it as it is.
	VocabWholeWords

	// What blanks take for themselves: VocabDigits are words and what has digits, vocabNumbers are
	// digits alone, and vocabWholeNumbers are whole words and those.
	VocabDigits
	vocabNumbers
	vocabWholeNumbers

	numVocabs
)

// Names lists the words for the values that a user chooses among, in their order.
func (Vocab) Names() []string { return []string{"words", "all", "whole-words"} }
