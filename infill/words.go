package infill

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"infill/internal/textline"
	"infill/tokenize"
)

// A phrase is a word or several as a model reads it.
type phrase struct {
	ids  []int32
	text string // as its author spells it
}

// A WordList is a list of words or phrases, prepared for one tokenizer. It is
// safe for concurrent use.
type WordList struct {
	phrases []phrase
	byIDs   map[string]bool
	tok     *tokenize.Tokenizer
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
	l := &WordList{byIDs: map[string]bool{}, tok: tok}
	if len(words) > maxListWords {
		return nil, fmt.Errorf("%w: a list of %d words, want at most %d", ErrOption, len(words), maxListWords)
	}
	for _, w := range words {
		p, err := newPhrase(tok, w)
		if err != nil {
			return nil, err
		}
		l.add(p)
	}
	return l, nil
}

// ReadWordList reads a list of words, one a line; empty lines and lines that
// begin with # are left out. Errors name the line.
func ReadWordList(tok *tokenize.Tokenizer, r io.Reader) (*WordList, error) {
	l := &WordList{byIDs: map[string]bool{}, tok: tok}
	in := textline.NewReader(r, maxListLine)
	for {
		b, err := in.Next()
		if err == io.EOF {
			break
		}
		n := in.Number()
		if errors.Is(err, textline.ErrTooLong) {
			return nil, fmt.Errorf("line %d: %w: %w", n, ErrOption, err)
		}
		if err != nil {
			return nil, err
		}
		w := strings.TrimSpace(string(b))
		if w == "" || w[0] == '#' {
			continue
		}
		p, err := newPhrase(tok, w)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		l.add(p)
		if len(l.phrases) > maxListWords {
			return nil, fmt.Errorf("%w: more than %d words", ErrOption, maxListWords)
		}
	}
	if len(l.phrases) == 0 {
		return nil, fmt.Errorf("%w: the list has no word; write one a line", ErrOption)
	}
	return l, nil
}

// Len is the number of different words.
func (l *WordList) Len() int { return len(l.phrases) }

func (l *WordList) add(p phrase) {
	if k := idsKey(p.ids); !l.byIDs[k] {
		l.byIDs[k] = true
		l.phrases = append(l.phrases, p)
	}
	if l.tok.MarksSpaces() { // the same word where no space is before it
		if bare, err := continued(l.tok, p); err == nil {
			l.byIDs[idsKey(bare.ids)] = true
		}
	}
}

// has tells whether the list holds what these tokens spell.
func (l *WordList) has(ids []int32) bool { return l != nil && l.byIDs[idsKey(ids)] }

var errUnspellable = errors.New("the model's vocabulary cannot spell it")

func newPhrase(tok *tokenize.Tokenizer, word string) (phrase, error) {
	return spellPhrase(tok, word, true)
}

// spellPhrase finds the pieces of a word or phrase, where a space is before it or not.
func spellPhrase(tok *tokenize.Tokenizer, word string, spaced bool) (phrase, error) {
	word = strings.TrimSpace(word)
	fail := func(err error) (phrase, error) {
		return phrase{}, fmt.Errorf("%w: the word %q: %w", ErrOption, word, err)
	}
	switch {
	case word == "":
		return fail(errors.New("it is empty"))
	case len(word) > maxListWord:
		return phrase{}, fmt.Errorf("%w: a word of %d bytes, want at most %d", ErrOption, len(word), maxListWord)
	}
	enc, err := tok.Word(word, spaced)
	if err != nil {
		return fail(err)
	}
	for i, id := range enc.IDs {
		if enc.Special[i] || id == tok.UNKID() {
			return fail(errUnspellable)
		}
	}
	switch n := len(enc.IDs); {
	case n == 0:
		return fail(errUnspellable)
	case n > maxBlankTokens:
		return fail(fmt.Errorf("it takes %d tokens, want at most %d", n, maxBlankTokens))
	}
	return phrase{enc.IDs, word}, nil
}

// continued is a phrase where it directly follows a letter: its first letters
// go on with the word before, as the longest pieces of the vocabulary. Where the
// vocabulary marks spaces it is the phrase without a space before it.
func continued(tok *tokenize.Tokenizer, p phrase) (phrase, error) {
	if tok.MarksSpaces() {
		return spellPhrase(tok, p.text, false)
	}
	r, _ := utf8.DecodeRuneInString(p.text)
	if !isWordRune(r) {
		return p, nil
	}
	end := strings.IndexFunc(p.text, func(r rune) bool { return !isWordRune(r) })
	if end < 0 {
		end = len(p.text)
	}
	rest := p.text[:end]
	if tok.Lowercase() {
		rest = strings.ToLower(rest)
	}
	var ids []int32
	for rest != "" {
		n := len(rest)
		for ; n > 0; n-- {
			if id, ok := tok.ID("##" + rest[:n]); ok && !tok.IsSpecial(id) {
				ids = append(ids, id)
				break
			}
		}
		if n == 0 {
			return phrase{}, fmt.Errorf("%w: %q after a letter: %w", ErrOption, p.text, errUnspellable)
		}
		rest = rest[n:]
	}
	if strings.TrimSpace(p.text[end:]) != "" {
		tail, err := newPhrase(tok, p.text[end:])
		if err != nil {
			return phrase{}, err
		}
		ids = append(ids, tail.ids...)
	}
	if len(ids) > maxBlankTokens {
		return phrase{}, fmt.Errorf("%w: %q takes %d tokens, want at most %d", ErrOption, p.text, len(ids), maxBlankTokens)
	}
	return phrase{ids, p.text}, nil
}

// idsKey makes tokens a key of a map.
func idsKey(ids []int32) string {
	b := make([]byte, 0, 4*len(ids))
	for _, id := range ids {
		b = append(b, byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
	}
	return string(b)
}

// nearer tells whether the Levenshtein distance between two words, in
// characters and without regard to case, is below d.
func nearer(a, b string, d int) bool {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	if diff := len(x) - len(y); diff >= d || -diff >= d {
		return false
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range x {
		diagonal, least := row[0], i+1
		row[0] = i + 1
		for j, s := range y {
			cost := diagonal
			if r != s {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
			least = min(least, cost)
		}
		if least >= d {
			return false
		}
	}
	return row[len(y)] < d
}
