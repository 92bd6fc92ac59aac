package tokenize

import "strings"

// byteLevel is the pre-tokeniser of GPT-2 (Radford et al. 2019, section 2.2),
// which RoBERTa and ModernBERT have: contractions, letters, numbers and other
// characters are words, each with one space before it if there is one; longer
// white space is a word but for its last space. Its regular expression:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// It is the last splitter: the model stage works on the bytes of its words.
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

func classOf(r rune) uint8 {
	switch {
	case isLetter(r):
		return letterClass
	case isNumber(r):
		return numberClass
	case isWhite(r):
		return spaceClass
	}
	return otherClass
}

// cut puts the space before the first word where it belongs, and divides.
func (b byteLevel) cut(chars []char, bare bool) [][]char {
	if b.prefix && !bare && chars[0].r != ' ' {
		first := chars[0]
		first.r = ' '
		chars = append([]char{first}, chars...)
	}
	if b.whole {
		return [][]char{chars}
	}
	return atPattern{match: gptWord}.cut(chars, bare)
}

// gptWord is the length of the match of GPT-2's expression at the start of chars.
func gptWord(chars []char) int {
	if n := contraction(chars, false); n > 0 {
		return n
	}
	from, c := 0, classOf(chars[0].r)
	if chars[0].r == ' ' && len(chars) > 1 && classOf(chars[1].r) != spaceClass {
		from, c = 1, classOf(chars[1].r)
	}
	n := span(chars, from, func(r rune) bool { return classOf(r) == c })
	if c == spaceClass && n < len(chars) && n > 1 {
		n-- // the last one is left for the next word
	}
	return n
}

// span is the end of the characters of a kind from a place on.
func span(chars []char, from int, in func(r rune) bool) int {
	for from < len(chars) && in(chars[from].r) {
		from++
	}
	return from
}

// contraction is the length of the ending of a contraction that chars begin with, with fold in
// either case. The long s, whose capital is S, counts as one then.
func contraction(chars []char, fold bool) int {
	at := func(i int) rune {
		switch r := chars[i].r; {
		case fold && r == 'ſ':
			return 's'
		case fold && r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		default:
			return r
		}
	}
	if len(chars) < 2 || chars[0].r != '\'' {
		return 0
	}
	switch first := at(1); {
	case first == 's' || first == 't' || first == 'm' || first == 'd':
		return 2
	case len(chars) > 2 && (first == 'r' || first == 'v') && at(2) == 'e',
		len(chars) > 2 && first == 'l' && at(2) == 'l':
		return 3
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
