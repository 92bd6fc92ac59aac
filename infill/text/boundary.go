package text

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"infill/tokenize"
)

// A Boundary knows how a vocabulary writes where words begin. There are two
// kinds. WordPiece marks the pieces that go on with a word (##ing). Byte-level
// BPE and Unigram vocabularies mark the pieces after a space (Ġcat, ▁cat).
// Everything else in this package asks a boundary and never the tokenizer.
type Boundary interface {
	// Sort lists the tokens that may fill a blank, by what they may follow.
	Sort() Lists
	// Forms returns, for blanks that are tied, the place whose tokens each of
	// them takes. It returns the index of a blank that fits no tie, or −1.
	Forms(places []Place) (forms []tokenize.Place, misfit int)
	// bare reports whether the token at a blank has no mark of a space. before is the
	// text before the blank. touches: another blank ends there.
	bare(before string, touches bool) bool
	// joins reports whether a piece after this ideograph or kana goes on with its word.
	joins(r rune) bool

	// Begins reports whether token i of a filling begins a word of letters or
	// digits. glued is Glued of the place where the filling stands.
	Begins(f []int32, i int, glued bool) bool
	// GoesOn reports whether token i > 0 of a filling may belong to the word before it.
	GoesOn(f []int32, i int) bool
	// Alike reports whether two tokens look the same in a text.
	Alike(a, b int32) bool

	// Units calls yield for each stretch of a filling that the tokenizer must cut
	// in the same way, until yield returns false. form is the filling's form.
	Units(f []int32, form tokenize.Place, yield func(unit []int32, at tokenize.Place) bool) bool
	// Words calls yield for each word of a filling that begins in it, until
	// yield returns false. Words of one piece of punctuation are among them.
	Words(f []int32, form tokenize.Place, yield func(word []int32) bool) bool

	// Join spells the tokens of one blank.
	Join(ids []int32) string
	// Spell returns the tokens of a phrase at a place. Its error has no kind, see wordError.
	Spell(text string, at tokenize.Place) (Phrase, error)
	// Spellings returns all token sequences of a phrase, at all places where
	// it begins with a whole word.
	Spellings(p Phrase) [][]int32
}

// BoundaryOf returns the boundary of a tokenizer's vocabulary.
func BoundaryOf(tok *tokenize.Tokenizer) Boundary {
	if tok.MarksSpaces() {
		return &spaceMarks{tok: tok}
	}
	return wordPiece{tok}
}

// Lists holds the ascending token ids that may fill a blank. The indices are a
// Vocab and the form that the blank takes; then holds what may come after the
// first token of a blank.
type Lists struct {
	First [numVocabs][tokenize.AfterLetter + 1][]int32
	Then  [numVocabs][]int32
}

// of adds a token to the list of every vocabulary that has it, but for whole words that stand
// apart: those are for the tokenizer to say.
func (l *Lists) of(list func(Vocab) *[]int32, id int32, text string, inside bool) {
	starts, digits := isLetterOrDigit(firstRune(text)), hasDigit(text)
	has := [numVocabs]bool{
		VocabAll: true, VocabDigits: starts || inside, VocabWords: (starts || inside) && !digits,
		vocabNumbers: isNumber(text), vocabWholeNumbers: isNumber(text),
	}
	for v, is := range has {
		if is {
			at := list(Vocab(v))
			*at = append(*at, id)
		}
	}
}

// apart adds a token that can begin a blank which stands apart.
func (l *Lists) apart(id int32, form tokenize.Place, text string) {
	l.of(func(v Vocab) *[]int32 { return &l.First[v][form] }, id, text, false)
}

// inside adds a token that can directly follow a letter. goesOn: it then belongs
// to the same word.
func (l *Lists) inside(id int32, text string, goesOn bool) {
	list := func(v Vocab) *[]int32 { return &l.First[v][tokenize.AfterLetter] }
	l.of(list, id, text, true)
	if (goesOn || IsIdeograph(firstRune(text))) && isLetters(text) {
		for _, v := range []Vocab{VocabWholeWords, vocabWholeNumbers} {
			*list(v) = append(*list(v), id)
		}
	}
}

// later adds a token that can follow the first of a blank.
func (l *Lists) later(id int32, text string) {
	l.of(func(v Vocab) *[]int32 { return &l.Then[v] }, id, text, false)
}

// words sets what fills a blank with whole words only, or with these and numbers.
func (l *Lists) words(spaced, bare []int32) {
	first, then := &l.First[VocabWholeWords], &l.First[vocabWholeNumbers]
	first[tokenize.AfterSpace], first[tokenize.AfterSymbol] = spaced, bare
	for form := range first[:tokenize.AfterLetter] {
		then[form] = append(then[form], first[form]...)
		slices.Sort(then[form])
	}
	l.Then[VocabWholeWords], l.Then[vocabWholeNumbers] = spaced, then[tokenize.AfterSpace]
}

// NumberShare is what tokens with digits have of what p gives to them and to words, of those that
// may fill a blank at a place of a form.
func (l *Lists) NumberShare(form tokenize.Place, p func(id int32) float64) float64 {
	both, words := 0.0, 0.0
	for _, id := range l.First[VocabDigits][form] {
		both += p(id)
	}
	for _, id := range l.First[VocabWords][form] {
		words += p(id)
	}
	return 1 - words/both
}

// A Place is where a blank stands in a text: what decides on the form of its
// first token, and the rest of the word that it is part of.
type Place struct {
	// Glued: directly after a letter, a digit or another blank, or an ideograph that the tokenizer
	// does not set apart.
	Glued bool
	// Ideographs: directly before or after an ideograph or kana, so that such characters go in.
	Ideographs bool
	bare       bool // in a vocabulary that marks spaces: the token there has no mark
	// movable: a token with the mark of a space may stand here too, since at the
	// start of a text and after white space the two look the same.
	movable bool
	// Before and after are the letters and digits that touch the blank.
	Before, After string
	// Neighbour: another blank is part of the same word.
	Neighbour bool
	// tail are the pieces of after, if a number begins there, and head those of before.
	Head, Tail []int32
}

// placesOf finds the places of the blanks of a text.
func placesOf(bound Boundary, text string, blanks []Blank) []Place {
	out := make([]Place, len(blanks))
	for i, b := range blanks {
		p := &out[i]
		touches := i > 0 && blanks[i-1].End == b.Start
		from, to := 0, len(text)
		if i > 0 {
			from = blanks[i-1].End
		}
		if i+1 < len(blanks) {
			to = blanks[i+1].Start
		}
		p.Before, p.After = LettersBefore(text[from:b.Start]), LettersAfter(text[b.End:to])
		last, n := utf8.DecodeLastRuneInString(text[from:b.Start])
		p.Glued = touches || p.Before != "" || IsIdeograph(last) && bound.joins(last)
		p.Ideographs = IsIdeograph(last) || IsIdeograph(firstRune(text[b.End:to]))
		p.bare = bound.bare(text[:b.Start], touches)
		p.movable = n == 0 && !touches || unicode.IsSpace(last)
		p.Neighbour = i > 0 && from+len(p.Before) == b.Start ||
			i+1 < len(blanks) && b.End+len(p.After) == to
	}
	for i := 1; i < len(out); i++ { // through blanks that touch
		out[i].Ideographs = out[i].Ideographs ||
			blanks[i-1].End == blanks[i].Start && out[i-1].Ideographs
	}
	for i := len(out) - 2; i >= 0; i-- {
		out[i].Ideographs = out[i].Ideographs ||
			blanks[i+1].Start == blanks[i].End && out[i+1].Ideographs
	}
	return out
}

// surface is the spelling of a token inside a text.
func surface(tok *tokenize.Tokenizer, id int32) string {
	s, _ := tok.Surface(id)
	return s
}
