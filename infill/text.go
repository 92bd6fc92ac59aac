package infill

import (
	"io"
	"strings"

	"infill/infill/internal/text"
	"infill/tokenize"
)

// Word is what pieces look like in a blank: without the marks of spaces and of the insides of
// words, and without the space before the first. A part of a character is U+FFFD. What has nothing
// to be seen is spelt as the vocabulary does.
func Word(tok *tokenize.Tokenizer, ids []int32) string {
	w := strings.ToValidUTF8(text.BoundaryOf(tok).Join(ids), "\ufffd")
	if w == "" {
		return pieces(tok, ids)
	}
	return w
}

// pieces are tokens as the vocabulary spells them, with spaces between.
func pieces(tok *tokenize.Tokenizer, ids []int32) string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = tok.Token(id)
	}
	return strings.Join(list, " ")
}

// A Vocab names the tokens that may fill a blank.
type Vocab = text.Vocab

const (
	// VocabWords allows what begins a word with a letter and has no digit, and in blanks of
	// several tokens what continues one. Directly after a letter or another
	// blank it is VocabAll but for digits: whatever continues the word, or ends it. Punctuation
	// in a blank that stands apart is asked for: by VocabAll, by the blank
	// ([MASK.]), or by its list. So are numbers: by VocabAll, [MASK#], a list, an expression with
	// digits, digits or signs such as $ beside the blank, or a masked word that has some. Directly
	// beside an ideograph or kana it allows such characters only, unless the blank has an expression.
	VocabWords Vocab = text.VocabWords
	// VocabAll allows every token that can stand where the blank stands:
	// after white space or punctuation whatever begins a word or is punctuation,
	// directly after a letter or another blank whatever continues a word. Special
	// and unused tokens never.
	VocabAll Vocab = text.VocabAll
	// VocabWholeWords allows only words made of letters, and VocabWords' characters beside
	// ideographs. Directly after a
	// letter these are the pieces of letters that go on with the word. Blanks
	// with a list of their own take it as it is.
	VocabWholeWords Vocab = text.VocabWholeWords
)

// A Case says how filled words are written when the model knows lower case only.
type Case = text.Case

const (
	// CaseAuto writes words with the capitals that they have in the text around: at the start of
	// sentences, and all in capitals where the text is. Words of English vocabularies also have the
	// capitals of running English text, such as France, October, Mr, DNA and I. What stands beside a
	// word decides where it may be a name or none, as may and us. A text that is itself written in
	// lower case (caseless corpora are) stays so, and so does a list of words in which any word has
	// a capital. A word in the place of one that was masked is written as that was, of a model that
	// knows capitals too: in lower case, with a first capital, or all in capitals.
	CaseAuto Case = text.CaseAuto
	// CaseModel writes the model's tokens as they are.
	CaseModel Case = text.CaseModel
)

// WordClass is a kind of words.
type WordClass = text.WordClass

const (
	// ClassAll is every word that another word can stand for.
	ClassAll WordClass = text.ClassAll
	// ClassContent are the words with a letter that are not function words, see Masking.Stop.
	ClassContent WordClass = text.ClassContent
	// ClassEverything is also what no word of a vocabulary can stand for, such as addresses,
	// versions, names of files and of fields. Each is masked whole.
	ClassEverything WordClass = text.ClassEverything
)

// MaxMaskWords is the largest Masking.Words.
const MaxMaskWords = text.MaxMaskWords

// CountWords is the number of words of a text that a Masking of [ClassAll] may mask: what stands
// between white space, and the characters of scripts whose words are not set apart.
func CountWords(s string) int { return text.CountWords(s) }

// A LabelledSpan is a part of a text that has a label, such as a name: bytes Start to End, the end
// excluded, and Label.
type LabelledSpan = text.LabelledSpan

// CheckSpans refuses spans that cannot move with a text whose words are masked: those that are not
// of the text, and any of a text with a backslash before a blank, since the masked text is without
// it. Errors wrap [ErrSpan], but for those of [Parse].
func CheckSpans(tok *tokenize.Tokenizer, s string, spans []LabelledSpan) error {
	return text.CheckSpans(tok, s, spans)
}

// A WordList is a list of words or phrases, prepared for one tokenizer. Len is the number of
// different ones. It is safe for concurrent use.
type WordList = text.WordList

// NewWordList prepares words for a tokenizer. White space around a word does
// not count; of words that the model reads alike the first is kept. The error,
// ErrOption, names the word that is empty, too long, not UTF-8, or that the
// vocabulary cannot spell.
func NewWordList(tok *tokenize.Tokenizer, words []string) (*WordList, error) {
	return text.NewWordList(tok, words)
}

// NewBanList prepares words that are to fill no blank. A word that the
// vocabulary cannot spell fills none anyway. Such words are returned and left
// out. Errors: those of NewWordList for other words.
func NewBanList(tok *tokenize.Tokenizer, words []string) (
	l *WordList, unspelt []string, err error) {
	return text.NewBanList(tok, words)
}

// ReadWordList reads a list of words, one a line; empty lines and lines that
// begin with # are left out. Errors name the line.
func ReadWordList(tok *tokenize.Tokenizer, r io.Reader) (*WordList, error) {
	return text.ReadWordList(tok, r)
}

// ReadWords is what [ReadWordList] reads, without a tokenizer: the words as they stand. A program
// that fills elsewhere sends them there, for [NewWordList].
func ReadWords(r io.Reader) ([]string, error) { return text.ReadWords(r) }

// A WordSet is a set of words and phrases of a text, whatever the model's vocabulary. Case does not
// count, nor does what stands between the parts of a word or phrase: "New York" is also "new-york",
// and "Alice" is also part of "Alice's". Add puts the words of another set into it, and Len is the
// number of entries. It is safe for concurrent use.
type WordSet = text.WordSet

// NewWordSet makes a set of words and phrases. The error, ErrOption, names one without a letter or
// digit.
func NewWordSet(words []string) (*WordSet, error) { return text.NewWordSet(words) }

// ReadWordSet reads a set of words or phrases, one a line. Empty lines and lines that begin with #
// are left out. Errors name the line.
func ReadWordSet(r io.Reader) (*WordSet, error) { return text.ReadWordSet(r) }
