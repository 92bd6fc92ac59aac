package text

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
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

// isNumber reports whether a piece consists of digits, or is a decade or an ordinal such as 1990s
// and 20th.
func isNumber(s string) bool {
	rest := strings.TrimLeftFunc(s, unicode.IsDigit)
	return rest != s && slices.Contains([]string{"", "s", "st", "nd", "rd", "th"}, rest)
}

// hasDigit reports whether a text has a digit.
func hasDigit(s string) bool { return strings.IndexFunc(s, unicode.IsDigit) >= 0 }

// inNumber reports whether a blank is part of a number: a digit touches it, with a separator of
// numbers, times and dates between or none, or a sign that goes with numbers does.
func (t *Template) inNumber(i int) bool {
	const between = ".,:/-"
	before, after := t.Text[:t.Blanks[i].Start], t.Text[t.Blanks[i].End:]
	last, first := lastRune(before), firstRune(after)
	if strings.ContainsRune("$€£¥№", last) || strings.ContainsRune("%‰°", first) {
		return true
	}
	if strings.ContainsRune(between, last) {
		last = lastRune(before[:len(before)-1])
	}
	if strings.ContainsRune(between, first) {
		first = firstRune(after[1:])
	}
	return unicode.IsDigit(last) || unicode.IsDigit(first)
}

// VocabOf is what fills the blanks of a group where others take v: what they say of it, and words
// with digits where a number is begun, or stood before.
func (t *Template) VocabOf(g *Group, v Vocab, original []string) Vocab {
	number := func(b int) bool {
		return t.inNumber(b) || len(original) == len(t.Blanks) && hasDigit(original[b])
	}
	switch {
	case g.Number:
		return vocabNumbers
	case g.Pattern != nil && g.MaxWords > 0: // of any pieces
		if asksForDigits(g.Pattern) {
			return VocabDigits
		}
		return VocabWords
	case g.Pattern != nil && asksForDigits(g.Pattern):
		return vocabWholeNumbers
	case g.Pattern != nil:
		return VocabWholeWords
	case g.Punctuation:
		return VocabAll
	case v == VocabWords && slices.ContainsFunc(g.Blanks, number):
		return VocabDigits
	}
	return v
}

// Undecided reports whether words alone fill the blanks of a group of a VocabOf although numbers
// could: nothing asks for either, and the blanks are words of their own.
func (t *Template) Undecided(g *Group, v Vocab) bool {
	return g.bare() && v == VocabWords && t.wordsApart(g)
}

// wordsApart reports whether the blanks of a group are words of their own.
func (t *Template) wordsApart(g *Group) bool {
	return !slices.ContainsFunc(t.PlacesIn(g), func(p Place) bool {
		return p.Before != "" || p.After != "" || p.Neighbour || p.Ideographs
	})
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

// asksForDigits reports whether an expression asks for digits: it has some, or a class of few
// characters among which they are, such as [a-z0-9].
func asksForDigits(re *regexp.Regexp) bool {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	return err == nil && asksDigits(tree)
}

func asksDigits(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return hasDigit(string(re.Rune))
	case syntax.OpCharClass:
		size, digit := 0, false
		for i := 0; i+1 < len(re.Rune); i += 2 {
			size += int(re.Rune[i+1]-re.Rune[i]) + 1
			digit = digit || re.Rune[i] <= '9' && re.Rune[i+1] >= '0'
		}
		return digit && size < 100
	}
	return slices.ContainsFunc(re.Sub, asksDigits)
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

// LettersBefore is the end of a text that belongs to one word.
func LettersBefore(s string) string { return s[len(strings.TrimRightFunc(s, isWordRune)):] }

// LettersAfter is the beginning of a text that belongs to one word.
func LettersAfter(s string) string {
	return s[:len(s)-len(strings.TrimLeftFunc(s, isWordRune))]
}

// isWordRune reports whether a rune belongs to a word that a letter beside it
// belongs to as well. Ideographs are words of their own.
func isWordRune(r rune) bool {
	return isLetterOrDigit(r) && !unicode.In(r, unicode.Han, unicode.Hiragana) && !isKatakana(r)
}

// isKatakana reports whether a character is of the script in which Japanese spells words from
// elsewhere, or the mark of its long vowels.
func isKatakana(r rune) bool { return unicode.Is(unicode.Katakana, r) || r == 'ー' || r == 'ｰ' }

// isLetterOrDigit reports whether a rune is part of words, ideographs included.
func isLetterOrDigit(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// isLetters reports whether a piece consists of letters and combining marks.
func isLetters(s string) bool {
	other := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }
	return s != "" && !strings.ContainsFunc(s, other)
}

// surface is the spelling of a token inside a text.
func surface(tok *tokenize.Tokenizer, id int32) string {
	s, _ := tok.Surface(id)
	return s
}

// firstRune is the first character of a text, utf8.RuneError of an empty one.
func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// lastRune is the last character of a text, utf8.RuneError of an empty one.
func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}
