package text

import (
	"errors"
	"sort"
	"strings"
	"unicode/utf8"

	"infill/tokenize"
)

// ParseBlanks finds the blanks of a text; mask is the tokenizer's own spelling
// of the mask token. A backslash directly before a blank makes it ordinary
// text, and two stand for one backslash before a blank: "\[MASK]" is the text
// "[MASK]", and "\\[MASK]" a backslash and a blank. Other backslashes are text.
// It returns the text without these escapes, and the blanks with their spans in it.
func ParseBlanks(raw, mask string) (string, []Blank, error) {
	var blanks []Blank
	var plain strings.Builder
	for i := 0; i < len(raw); {
		slashes := 0
		for i+slashes < len(raw) && raw[i+slashes] == '\\' {
			slashes++
		}
		opening := opensBlank(raw[i+slashes:], mask)
		switch {
		case slashes > 0 && opening == 0:
			plain.WriteString(raw[i : i+slashes])
			i += slashes
			continue
		case slashes > 0:
			plain.WriteString(raw[i : i+slashes/2])
			i += slashes
			if slashes%2 == 1 {
				plain.WriteString(raw[i : i+opening])
				i += opening
				continue
			}
		case opening == 0:
			_, n := utf8.DecodeRuneInString(raw[i:])
			plain.WriteString(raw[i : i+n])
			i += n
			continue
		}
		b, n, err := blankAt(raw[i:], mask)
		if err != nil {
			kind := ErrBlank
			if errors.Is(err, errManyWords) {
				kind = ErrManyWords
			}
			return "", nil, &Error{i, err.Error(), kind}
		}
		b.Start, b.End = plain.Len(), plain.Len()+n
		blanks = append(blanks, b)
		plain.WriteString(raw[i : i+n])
		i += n
	}
	return plain.String(), blanks, nil
}

// opensBlank returns the length of what a blank begins with; 0 if s begins with none.
func opensBlank(s, mask string) int {
	switch {
	case strings.HasPrefix(s, mask):
		return len(mask)
	case strings.HasPrefix(s, openBlank) && len(s) > len(openBlank) &&
		strings.IndexByte("]"+blankOptions, s[len(openBlank)]) >= 0:
		return len(openBlank)
	}
	n := 0
	for n < len(s) && s[n] == '_' {
		n++
	}
	if n < minUnderscores {
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
	s := spellMasks(text, tok.Token(tok.MaskID()), blanks)
	enc, err := tok.EncodeBlanks(s.text)
	if err != nil {
		return enc, err
	}
	for i, span := range enc.Spans {
		enc.Spans[i] = [2]int{s.place(span[0]), s.place(span[1])}
	}
	return enc, nil
}
