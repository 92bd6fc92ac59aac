package text

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"infill/internal/textline"
	"infill/tokenize"
)

// A Phrase is a word or several as a model reads it.
type Phrase struct {
	IDs  []int32
	Text string // as its author spells it
}

// A WordList is a list of words or phrases, prepared for one tokenizer. It is
// safe for concurrent use.
type WordList struct {
	phrases []Phrase
	byIDs   map[string]bool
	bound   Boundary
	tok     *tokenize.Tokenizer // nil for the zero value, which has no word
}

// Bounds of a word list.
const (
	maxListWords = 1_000_000
	maxListWord  = 200      // bytes
	maxListLine  = 64 << 10 // bytes
)

// NewWordList prepares words for a tokenizer. White space around a word does
// not count; of words that the model reads alike the first is kept. The error,
// ErrOption, names the word that is empty, too long, not UTF-8, or that the
// vocabulary cannot spell.
func NewWordList(tok *tokenize.Tokenizer, words []string) (*WordList, error) {
	l, err := newList(tok)
	if err != nil {
		return nil, err
	}
	if len(words) > maxListWords {
		return nil, fmt.Errorf("%w: a list of %d words, want at most %d", ErrOption, len(words),
			maxListWords)
	}
	for _, w := range words {
		if err := l.add(w); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// newList is a list without words.
func newList(tok *tokenize.Tokenizer) (*WordList, error) {
	if tok == nil {
		return nil, ErrNoTokenizer
	}
	return &WordList{byIDs: map[string]bool{}, bound: BoundaryOf(tok), tok: tok}, nil
}

// NewBanList prepares words that are to fill no blank. A word that the
// vocabulary cannot spell fills none anyway. Such words are returned and left
// out. Errors: those of NewWordList for other words.
func NewBanList(tok *tokenize.Tokenizer, words []string) (
	l *WordList, unspelt []string, err error) {
	if tok == nil {
		return nil, nil, ErrNoTokenizer
	}
	var spelt []string
	b := BoundaryOf(tok)
	for _, w := range words {
		if _, err := b.Spell(w, tokenize.AfterSpace); errors.Is(err, errUnspellable) {
			unspelt = append(unspelt, strings.TrimSpace(w))
			continue
		}
		spelt = append(spelt, w)
	}
	l, err = NewWordList(tok, spelt)
	return l, unspelt, err
}

// ReadWordList reads a list of words, one a line; empty lines and lines that
// begin with # are left out. Errors name the line.
func ReadWordList(tok *tokenize.Tokenizer, r io.Reader) (*WordList, error) {
	l, err := newList(tok)
	if err == nil {
		err = readList(r, l.add, l.Len)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// ReadWords is what [ReadWordList] reads, without a tokenizer: the words as they stand. A program
// that fills elsewhere sends them there, for [NewWordList].
func ReadWords(r io.Reader) ([]string, error) {
	var words []string
	err := readList(r, func(w string) error { words = append(words, w); return nil },
		func() int { return len(words) })
	return words, err
}

// readList calls add with the words of a list. number is how many different ones there are. A list
// without words is an error. Errors name the line.
func readList(r io.Reader, add func(word string) error, number func() int) error {
	in := textline.NewReader(r, maxListLine)
	for found := false; ; {
		b, err := in.Next()
		n := in.Number()
		switch {
		case err == io.EOF && !found:
			return fmt.Errorf("%w: the list has no word; write one a line", ErrOption)
		case err == io.EOF:
			return nil
		case errors.Is(err, textline.ErrTooLong):
			return fmt.Errorf("line %d: %w: %w", n, ErrOption, err)
		case err != nil:
			return err
		}
		w := strings.TrimSpace(string(b))
		if w == "" || w[0] == '#' {
			continue
		}
		found = true
		if err := add(w); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if number() > maxListWords {
			return fmt.Errorf("%w: more than %d words", ErrOption, maxListWords)
		}
	}
}

// Len is the number of different words.
func (l *WordList) Len() int { return len(l.phrases) }

// add puts a word into the list. The error is ErrOption.
func (l *WordList) add(word string) error {
	p, err := l.bound.Spell(word, tokenize.AfterSpace)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrOption, err)
	}
	if !l.byIDs[IDsKey(p.IDs)] {
		l.phrases = append(l.phrases, p)
	}
	for _, ids := range l.bound.Spellings(p) {
		l.byIDs[IDsKey(ids)] = true
	}
	return nil
}

// Holds reports whether the list, which may be nil, holds what these tokens spell.
func (l *WordList) Holds(ids []int32) bool { return l != nil && l.byIDs[IDsKey(ids)] }

// With is a list with the words of two lists of one tokenizer, either of them nil for none.
func (l *WordList) With(other *WordList) *WordList {
	if l == nil || other == nil {
		return cmp.Or(l, other)
	}
	both := *l
	both.phrases = slices.Concat(l.phrases, other.phrases)
	both.byIDs = maps.Clone(l.byIDs)
	maps.Copy(both.byIDs, other.byIDs)
	return &both
}

// Phrases are the words of the list. Nobody changes them.
func (l *WordList) Phrases() []Phrase { return l.phrases }

// Tokenizer is the list's tokenizer, nil for nil and for the zero value.
func (l *WordList) Tokenizer() *tokenize.Tokenizer {
	if l == nil {
		return nil
	}
	return l.tok
}

var errUnspellable = errors.New("the model's vocabulary cannot spell it; " +
	"use another word, or leave it out")

// wordError is the error of a word that no blank can take. where, if not empty,
// says at which place. Whoever asked for the word adds the kind of the error.
func wordError(word string, err error, where string) error {
	return fmt.Errorf("the word %q%s: %w", word, where, err)
}

// spellPhrase finds the pieces of a word or phrase at a place. Errors are as of wordError.
func spellPhrase(tok *tokenize.Tokenizer, word string, at tokenize.Place) (Phrase, error) {
	word = strings.TrimSpace(word)
	switch {
	case word == "":
		return Phrase{}, wordError(word, errors.New("it is empty"), "")
	case len(word) > maxListWord:
		return Phrase{}, fmt.Errorf("a word of %d bytes, want at most %d", len(word), maxListWord)
	}
	enc, err := tok.Word(word, at)
	if err != nil {
		return Phrase{}, wordError(word, err, "")
	}
	for i, id := range enc.IDs {
		if enc.Special[i] || id == tok.UNKID() {
			return Phrase{}, wordError(word, errUnspellable, "")
		}
	}
	switch n := len(enc.IDs); {
	case n == 0:
		return Phrase{}, wordError(word, errUnspellable, "")
	case n > MaxTokens:
		err := fmt.Errorf("it takes %d tokens, want at most %d", n, MaxTokens)
		return Phrase{}, wordError(word, err, "")
	}
	return Phrase{enc.IDs, word}, nil
}

// AsRead is a word as the model reads it, such as "cafe" of "Café". It is the word itself where the
// vocabulary cannot spell it.
func AsRead(tok *tokenize.Tokenizer, word string) string {
	enc, err := tok.Pieces(word)
	if err != nil || len(enc.IDs) == 0 || slices.Contains(enc.IDs, tok.UNKID()) {
		return word
	}
	return BoundaryOf(tok).Join(enc.IDs)
}

// Word is what pieces look like in a blank: without the marks of spaces and of the insides of
// words, and without the space before the first. A part of a character is U+FFFD. What has nothing
// to be seen is spelt as the vocabulary does.
func Word(tok *tokenize.Tokenizer, ids []int32) string {
	w := strings.ToValidUTF8(BoundaryOf(tok).Join(ids), "\ufffd")
	if w == "" {
		return tok.Spelling(ids)
	}
	return w
}

// IDsKey makes tokens a key of a map.
func IDsKey(ids []int32) string {
	b := make([]byte, 0, 4*len(ids))
	for _, id := range ids {
		b = append(b, byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
	}
	return string(b)
}
