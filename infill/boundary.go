package infill

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"infill/tokenize"
)

// A boundary knows how a vocabulary writes where words begin. There are two
// kinds. WordPiece marks the pieces that go on with a word (##ing). Byte-level
// BPE and Unigram vocabularies mark the pieces after a space (Ġcat, ▁cat).
// Everything else in this package asks a boundary and never the tokenizer.
type boundary interface {
	// sort lists the tokens that may fill a blank, by what they may follow.
	sort() lists
	// forms returns, for blanks that are tied, the place whose tokens each of
	// them takes. It returns the index of a blank that fits no tie, or −1.
	forms(places []place) (forms []tokenize.Place, misfit int)
	// bare reports whether the token at a blank has no mark of a space. before is the
	// text before the blank. touches: another blank ends there.
	bare(before string, touches bool) bool

	// begins reports whether token i of a filling begins a word of letters or
	// digits. glued is that of the place that the filling stands at.
	begins(f []int32, i int, glued bool) bool
	// goesOn reports whether token i > 0 of a filling may belong to the word before it.
	goesOn(f []int32, i int) bool
	// sameWord is goesOn, except that punctuation belongs to no word.
	sameWord(f []int32, i int) bool
	// alike reports whether two tokens look the same in a text.
	alike(a, b int32) bool

	// units calls yield for each stretch of a filling that the tokenizer must
	// cut in the same way, until yield returns false. form is that of the filling.
	units(f []int32, form tokenize.Place, yield func(unit []int32, at tokenize.Place) bool) bool
	// words calls yield for each word of a filling that begins in it, until
	// yield returns false. Words of one piece of punctuation are among them.
	words(f []int32, form tokenize.Place, yield func(word []int32) bool) bool

	// join spells the tokens of one blank.
	join(ids []int32) string
	// spell returns the tokens of a phrase at a place. Its error has no kind, see wordError.
	spell(text string, at tokenize.Place) (phrase, error)
	// spellings returns all token sequences of a phrase, at all places where
	// it begins with a whole word.
	spellings(p phrase) [][]int32
}

// boundaryOf returns the boundary of a tokenizer's vocabulary.
func boundaryOf(tok *tokenize.Tokenizer) boundary {
	if tok.MarksSpaces() {
		return &spaceMarks{tok: tok}
	}
	return wordPiece{tok}
}

// lists holds the ascending token ids that may fill a blank. The indices are a
// Vocab and the form that the blank takes; then holds what may come after the
// first token of a blank.
type lists struct {
	first [numVocabs][tokenize.AfterLetter + 1][]int32
	then  [numVocabs][]int32
}

// apart adds a token that can begin a blank which stands apart. Whole words are
// for the tokenizer to say.
func (l *lists) apart(id int32, form tokenize.Place, text string) {
	l.first[VocabAll][form] = append(l.first[VocabAll][form], id)
	if isLetterOrDigit(firstRune(text)) {
		l.first[VocabWords][form] = append(l.first[VocabWords][form], id)
	}
}

// inside adds a token that can directly follow a letter. goesOn: it then belongs
// to the same word.
func (l *lists) inside(id int32, text string, goesOn bool) {
	for v := range numVocabs {
		if v != VocabWholeWords || goesOn && isLetters(text) {
			l.first[v][tokenize.AfterLetter] = append(l.first[v][tokenize.AfterLetter], id)
		}
	}
}

// later adds a token that can follow the first of a blank.
func (l *lists) later(id int32, text string) {
	l.then[VocabAll] = append(l.then[VocabAll], id)
	if isLetterOrDigit(firstRune(text)) {
		l.then[VocabWords] = append(l.then[VocabWords], id)
	}
}

// words sets what fills a blank with whole words only.
func (l *lists) words(spaced, bare []int32) {
	l.first[VocabWholeWords][tokenize.AfterSpace], l.then[VocabWholeWords] = spaced, spaced
	l.first[VocabWholeWords][tokenize.AfterSymbol] = bare
}

// A place is where a blank stands in a text: what decides on the form of its
// first token, and the rest of the word that it is part of.
type place struct {
	glued bool // directly after a letter, a digit or another blank
	bare  bool // in a vocabulary that marks spaces: the token there has no mark
	// movable: a token with the mark of a space may stand here too, since at the
	// start of a text and after white space the two look the same.
	movable bool
	// before and after are the letters and digits that touch the blank.
	before, after string
	// neighbour: another blank is part of the same word.
	neighbour bool
	// tail are the pieces of after, if a number begins there, and head those of before.
	head, tail []int32
}

// placesOf finds the places of the blanks of a text.
func placesOf(bound boundary, text string, blanks []blankIn) []place {
	out := make([]place, len(blanks))
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
		p.before, p.after = lettersBefore(text[from:b.Start]), lettersAfter(text[b.End:to])
		p.glued = touches || p.before != ""
		p.bare = bound.bare(text[:b.Start], touches)
		last, n := utf8.DecodeLastRuneInString(text[:b.Start])
		p.movable = n == 0 || unicode.IsSpace(last)
		p.neighbour = i > 0 && from+len(p.before) == b.Start ||
			i+1 < len(blanks) && b.End+len(p.after) == to
	}
	return out
}

// lettersBefore is the end of a text that belongs to one word.
func lettersBefore(s string) string {
	end := len(s)
	for end > 0 {
		r, n := utf8.DecodeLastRuneInString(s[:end])
		if !isWordRune(r) {
			break
		}
		end -= n
	}
	return s[end:]
}

// lettersAfter is the beginning of a text that belongs to one word.
func lettersAfter(s string) string {
	n := strings.IndexFunc(s, func(r rune) bool { return !isWordRune(r) })
	if n < 0 {
		return s
	}
	return s[:n]
}

// beginsNumber reports whether a text begins with a digit.
func beginsNumber(s string) bool { return unicode.IsDigit(firstRune(s)) }

// isWordRune reports whether a rune belongs to a word that a letter beside it
// belongs to as well. Ideographs are words of their own.
func isWordRune(r rune) bool {
	if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
		return false
	}
	return isLetterOrDigit(r)
}

// isLetterOrDigit reports whether a rune is part of words, ideographs included.
func isLetterOrDigit(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// isLetters reports whether a piece consists of letters and combining marks.
func isLetters(s string) bool {
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			return false
		}
	}
	return s != ""
}

// surface is the spelling of a token inside a text.
func surface(tok *tokenize.Tokenizer, id int32) string {
	s, _ := tok.Surface(id)
	return s
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}
