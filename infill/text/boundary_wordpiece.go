package text

import (
	"slices"
	"strings"

	"infill/tokenize"
)

// wordPiece is the boundary of vocabularies that mark the pieces inside words.
// A symbol before a blank makes no difference there: a word begins.
type wordPiece struct{ tok *tokenize.Tokenizer }

func (w wordPiece) Sort() Lists {
	var l Lists
	for id := int32(0); int(id) < w.tok.VocabSize(); id++ {
		if w.tok.IsSpecial(id) || w.tok.IsUnused(id) {
			continue
		}
		text := surface(w.tok, id)
		l.later(id, text)
		if w.tok.IsContinuation(id) {
			l.inside(id, text, true)
			continue
		}
		l.apart(id, tokenize.AfterSpace, text)
		// A whole word would have to stand apart. What can follow a letter
		// directly is punctuation, or a script written without spaces.
		if first := firstRune(text); !isWordRune(first) && (!IsIdeograph(first) || !w.joins(first)) {
			l.inside(id, text, false)
		}
	}
	l.words(w.tok.WholeWords(), nil)
	return l
}

// Forms may differ between tied blanks: punctuation fits both.
func (w wordPiece) Forms(places []Place) ([]tokenize.Place, int) {
	out := make([]tokenize.Place, len(places))
	for i, p := range places {
		if p.Glued {
			out[i] = tokenize.AfterLetter
		}
	}
	return out, -1
}

func (w wordPiece) bare(string, bool) bool { return false }

func (w wordPiece) joins(r rune) bool { return !w.tok.Apart(r) }

func (w wordPiece) Begins(f []int32, i int, _ bool) bool {
	return !w.tok.IsContinuation(f[i]) && isLetterOrDigit(firstRune(surface(w.tok, f[i])))
}

func (w wordPiece) GoesOn(f []int32, i int) bool { return w.tok.IsContinuation(f[i]) }

func (w wordPiece) Alike(a, b int32) bool { return a == b }

// Units are the words of several pieces. The first tokens of a blank inside a
// word go on with that word and are not judged.
func (w wordPiece) Units(f []int32, form tokenize.Place,
	yield func([]int32, tokenize.Place) bool) bool {
	return w.Words(f, form, func(word []int32) bool {
		return len(word) == 1 || yield(word, tokenize.AfterSpace)
	})
}

func (w wordPiece) Words(f []int32, form tokenize.Place, yield func([]int32) bool) bool {
	for i := 0; i < len(f); {
		end := i + 1
		for end < len(f) && w.GoesOn(f, end) {
			end++
		}
		inside := i == 0 && (form == tokenize.AfterLetter || w.tok.IsContinuation(f[0]))
		if !inside && !yield(f[i:end]) {
			return false
		}
		i = end
	}
	return true
}

// Punctuation that stands without a space before or after it.
const (
	closing = ".,;:!?)]}%'’”…-"
	opening = "([{$'’“-"
)

// Join sets tokens apart by one space, except the pieces that go on with a
// word, and except before closing and after opening punctuation and between
// ideographs.
func (w wordPiece) Join(ids []int32) string {
	var b strings.Builder
	var before rune
	for i, id := range ids {
		s := surface(w.tok, id)
		first := firstRune(s)
		tight := w.tok.IsContinuation(id) || strings.ContainsRune(closing, first) ||
			strings.ContainsRune(opening, before) || IsIdeograph(first) && IsIdeograph(before)
		if i > 0 && !tight {
			b.WriteByte(' ')
		}
		b.WriteString(s)
		before = lastRune(s)
	}
	return b.String()
}

// Spell after a letter: the first letters go on with the word before.
func (w wordPiece) Spell(text string, at tokenize.Place) (Phrase, error) {
	p, err := spellPhrase(w.tok, text, at)
	if err != nil || at != tokenize.AfterLetter {
		return p, err
	}
	if isWordRune(firstRune(p.Text)) && !w.tok.IsContinuation(p.IDs[0]) {
		return Phrase{}, wordError(text, errUnspellable, " after a letter")
	}
	return p, nil
}

func (w wordPiece) Spellings(p Phrase) [][]int32 { return [][]int32{slices.Clone(p.IDs)} }
