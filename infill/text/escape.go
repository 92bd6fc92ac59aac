package text

import (
	"errors"
	"sort"
	"strings"
	"unicode/utf8"

	"infill/internal/textline"
	"infill/tokenize"
)

// A Plain is a text without its escapes, as [Read] has it.
type Plain struct {
	Raw    string // with them
	Text   string
	Blanks []Blank // with their spans in Text
	// Dropped are the backslashes that Text is without, as bytes of Raw.
	Dropped [][2]int
	tok     *tokenize.Tokenizer
	// near is the first text that only looks like a blank, with what to write; nil for none.
	near *Error
	// literal is the first blank that a backslash makes text of.
	literal *Error
}

// Read finds the blanks of a text. A backslash directly before a blank makes it ordinary
// text, and two stand for one backslash before a blank: "\[MASK]" is the text
// "[MASK]", and "\\[MASK]" a backslash and a blank. Other backslashes are text. Errors are
// ErrNoTokenizer, or *Error with ErrBlank or of invalid UTF-8.
func Read(tok *tokenize.Tokenizer, raw string) (*Plain, error) {
	if tok == nil {
		return nil, ErrNoTokenizer
	}
	if err := checkUTF8(raw); err != nil {
		return nil, err
	}
	p, mask := &Plain{Raw: raw, tok: tok}, tok.Token(tok.MaskID())
	var plain strings.Builder
	for i := 0; i < len(raw); {
		slashes := len(raw[i:]) - len(strings.TrimLeft(raw[i:], `\`))
		at := i + slashes
		opening := opensBlank(raw, at, mask)
		if opening == 0 {
			if slashes == 0 {
				p.nearAt(raw, i)
			}
			_, n := utf8.DecodeRuneInString(raw[at:])
			plain.WriteString(raw[i : at+n])
			i = at + n
			continue
		}
		plain.WriteString(raw[i : i+slashes/2])
		if slashes > 0 {
			p.Dropped = append(p.Dropped, [2]int{i + slashes/2, at})
		}
		if slashes%2 == 1 {
			p.escaped(raw, at, opening)
			plain.WriteString(raw[at : at+opening])
			i = at + opening
			continue
		}
		b, n, err := blankAt(raw[at:], mask)
		if err != nil {
			kind := ErrBlank
			if errors.Is(err, errManyWords) {
				kind = ErrManyWords
			}
			return nil, &Error{at, err.Error(), kind}
		}
		b.Start, b.End = plain.Len(), plain.Len()+n
		p.Blanks = append(p.Blanks, b)
		plain.WriteString(raw[at : at+n])
		i = at + n
	}
	p.Text = plain.String()
	return p, nil
}

// CheckText refuses what no command can work on.
func CheckText(text, remedy string) error {
	if err := checkUTF8(text); err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" {
		return &Error{-1, remedy, ErrEmpty}
	}
	return nil
}

func checkUTF8(text string) error {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			return &Error{i, textline.NotUTF8(text), tokenize.ErrInvalidUTF8}
		}
	}
	return nil
}

// escape is the text that [Read] reads as this one with these blanks.
func escape(plain, mask string, blanks []Blank) string {
	var raw strings.Builder
	slashes := 0
	for i := 0; i < len(plain); {
		n := 0
		if len(blanks) > 0 && i == blanks[0].Start {
			raw.WriteString(strings.Repeat(`\`, slashes))
			n, blanks = blanks[0].End-i, blanks[1:]
		} else if n = opensBlank(plain, i, mask); n > 0 {
			raw.WriteString(strings.Repeat(`\`, slashes+1))
		}
		if n > 0 {
			slashes = 0
		} else if n = 1; plain[i] == '\\' {
			slashes++
		} else {
			slashes = 0
		}
		raw.WriteString(plain[i : i+n])
		i += n
	}
	return raw.String()
}

// opensBlank is the length of what a blank begins with at a byte of a text; 0 if none begins there.
func opensBlank(text string, at int, mask string) int {
	s := text[at:]
	switch {
	case strings.HasPrefix(s, mask):
		return len(mask)
	case strings.HasPrefix(s, otherBlank):
		return len(otherBlank)
	case strings.HasPrefix(s, openBlank) && len(s) > len(openBlank) &&
		strings.IndexByte("]"+blankOptions, s[len(openBlank)]) >= 0:
		return len(openBlank)
	}
	n := len(s) - len(strings.TrimLeft(s, "_"))
	inner := isLetterOrDigit(firstRune(s[n:])) &&
		isLetterOrDigit(lastRune(strings.TrimRight(text[:at], "_")))
	if n < minUnderscores || inner { // user___id
		return 0
	}
	return n
}

// A spelledText is a text as the tokenizer gets it: every blank is the mask token,
// and what only looks like a mask token is not.
type spelledText struct {
	text  string
	moves []move // ascending
}

// A move says that from byte at on, what was tokenized is shifted against the text.
type move struct{ at, by int }

// spellMasks writes the blanks of a text as mask tokens. In a mask token that
// the text itself spells a space is put after the first character, so that the
// tokenizer reads its characters.
func spellMasks(text, mask string, blanks []Blank) spelledText {
	var s spelledText
	var b strings.Builder
	shift := 0
	shifted := func(by int) {
		shift += by
		s.moves = append(s.moves, move{b.Len(), shift})
	}
	_, first := utf8.DecodeRuneInString(mask)
	stretch := func(part string) {
		for {
			i := strings.Index(part, mask)
			if i < 0 || first == len(mask) {
				b.WriteString(part)
				return
			}
			b.WriteString(part[:i+first] + " ")
			shifted(-1)
			part = part[i+first:]
		}
	}
	last := 0
	for _, bl := range blanks {
		stretch(text[last:bl.Start])
		b.WriteString(mask)
		shifted(bl.End - bl.Start - len(mask))
		last = bl.End
	}
	stretch(text[last:])
	s.text = b.String()
	return s
}

// place is the byte of the text that byte i of what was tokenized stands for.
func (s *spelledText) place(i int) int {
	n := sort.Search(len(s.moves), func(k int) bool { return s.moves[k].at > i })
	if n == 0 {
		return i
	}
	return i + s.moves[n-1].by
}

// Encode tokenizes a text with blanks. The spans of the pieces are bytes of
// the text itself.
func Encode(tok *tokenize.Tokenizer, text string, blanks []Blank) (tokenize.Encoding, error) {
	return encode(tok, tok.EncodeBlanks, text, blanks)
}

func encode(tok *tokenize.Tokenizer, by func(string) (tokenize.Encoding, error), text string,
	blanks []Blank) (tokenize.Encoding, error) {
	s := spellMasks(text, tok.Token(tok.MaskID()), blanks)
	enc, err := by(s.text)
	if err != nil {
		return enc, err
	}
	for i, span := range enc.Spans {
		enc.Spans[i] = [2]int{s.place(span[0]), s.place(span[1])}
	}
	return enc, nil
}
