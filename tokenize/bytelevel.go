package tokenize

import (
	"strings"
	"unicode/utf8"
)

// byteLevel is the pre-tokeniser of GPT-2 (Radford et al. 2019, section 2.2),
// which RoBERTa and ModernBERT have: contractions, letters, numbers and other
// characters are words, each with one space before it if there is one; longer
// white space is a word but for its last space. Its regular expression:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// Words are bytes: the model stage works on bytes, not on characters.
type byteLevel struct {
	prefix bool // a text that does not begin with a space gets one
	whole  bool // do not split
}

// The classes of characters that the expression tells apart.
const (
	otherClass = iota
	letterClass
	numberClass
	spaceClass
)

var asciiClass = func() (c [utf8.RuneSelf]uint8) {
	for i := range c {
		r := rune(i)
		switch {
		case isWhite(r):
			c[i] = spaceClass
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			c[i] = letterClass
		case r >= '0' && r <= '9':
			c[i] = numberClass
		}
	}
	return c
}()

func classOf(r rune) uint8 {
	switch {
	case r < utf8.RuneSelf:
		return asciiClass[r]
	case isLetter(r):
		return letterClass
	case isNumber(r):
		return numberClass
	case isWhite(r):
		return spaceClass
	}
	return otherClass
}

// words calls emit for each word of text, in order; together they are the text.
func (b *byteLevel) words(text []byte, emit func(lo, hi int)) {
	if b.whole {
		emit(0, len(text))
		return
	}
	class := func(i int) (uint8, int) {
		if c := text[i]; c < utf8.RuneSelf {
			return asciiClass[c], 1
		}
		r, size := utf8.DecodeRune(text[i:])
		return classOf(r), size
	}
	// span is the end of the characters of class c from i on, and the start of the last.
	span := func(i int, c uint8) (end, last int) {
		for end = i; end < len(text); {
			k, size := class(end)
			if k != c {
				break
			}
			last = end
			end += size
		}
		return end, last
	}
	for i := 0; i < len(text); {
		if n := contraction(text[i:]); n > 0 {
			emit(i, i+n)
			i += n
			continue
		}
		from := i
		c, _ := class(i)
		if text[i] == ' ' && i+1 < len(text) {
			if k, _ := class(i + 1); k != spaceClass {
				from, c = i+1, k
			}
		}
		end, last := span(from, c)
		if c == spaceClass && end < len(text) && last > i {
			end = last // the last one is left for the next word
		}
		emit(i, end)
		i = end
	}
}

// contraction is the length of the ending of a contraction that text begins with.
func contraction(text []byte) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	switch text[1] {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(text) > 2 {
		switch string(text[1:3]) {
		case "re", "ve", "ll":
			return 3
		}
	}
	return 0
}

// byteOf and runeOf are the spelling of bytes in the vocabularies of
// byte-level models: printable characters of Latin-1 stand for themselves, the
// other bytes for the characters from U+0100 on, in order. A space is Ġ.
var byteOf, runeOf = func() (map[rune]byte, [256]rune) {
	of := make(map[rune]byte, 256)
	var runes [256]rune
	next := rune(0x100)
	for b := range 256 {
		r := rune(b)
		if b < '!' || b > '~' && b < 0xA1 || b == 0xAD {
			r = next
			next++
		}
		of[r], runes[b] = byte(b), r
	}
	return of, runes
}()

// rawPiece turns the spelling of a piece into its bytes; ok is false if a
// character stands for no byte.
func rawPiece(piece string) (raw string, ok bool) {
	var b strings.Builder
	for _, r := range piece {
		c, ok := byteOf[r]
		if !ok {
			return "", false
		}
		b.WriteByte(c)
	}
	return b.String(), true
}
