package text

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Blank is a place in a text that is to be filled in, with what its spelling says of the filling:
//
//	[MASK]  <mask>  ___  one token
//	[MASK:a]           tied: all blanks called a get the same filling
//	[MASK*3]           three tokens
//	[MASK*1-3]         one to three tokens
//	[MASK*w]           a word of one to five tokens
//	[MASK*2w]          two words, [MASK*1-3w] one to three
//	[MASK*]            one to eight tokens
//	[MASK.]            one token, which may be punctuation
//	[MASK#]            a number
//	[MASK|red|green]   one of these words or phrases
//	[MASK/^[a-z]+ing$/]  a whole word that matches the regular expression
//
// Options may be combined, each once, in the order name, count, and then #, dot,
// list or expression: [MASK:a*2/^[a-z]+$/].
type Blank struct {
	Start, End int // byte span of the blank's spelling in Template.Text
	Pos        int // index of its mask token in Template.IDs

	Name        string         // blanks of the same name are tied; "" is tied to none
	Min, Max    int            // number of tokens, both 1 unless the blank says otherwise
	Words       []string       // the only fillings allowed; nil: any
	Punctuation bool           // fills the blank as well as words, as under VocabAll
	Number      bool           // only a number fills the blank
	Pattern     *regexp.Regexp // what a whole word must match; nil: anything
	Counted     bool           // the spelling gives a count
	// MinWords and MaxWords are the number of words, both 0 where the count is of tokens alone.
	MinWords, MaxWords int
}

// Bounds of what a blank may say.
const (
	MaxTokens = 32
	// MaxWordTokens is the most tokens that a word has where words are counted.
	MaxWordTokens   = 5
	phraseTokens    = 8 // of a blank with a count of nothing
	maxBlankWords   = 10_000
	maxBlankName    = 64
	maxBlankPattern = 1000
)

// minUnderscores is the length from which a run of underscores is a blank:
// shorter runs occur in ordinary text (__init__, snake_case). So do runs between letters or digits.
const minUnderscores = 3

// What begins a blank with every model, beside its own mask token and underscores.
const (
	otherBlank   = "<mask>"
	openBlank    = "[MASK"
	blankOptions = ":*#.|/" // what options begin with, in their order
)

// blankAt reads the blank that s starts with; its length is 0 if there is none.
func blankAt(s, mask string) (Blank, int, error) {
	b := Blank{Min: 1, Max: 1}
	n := opensBlank(s, 0, mask)
	if s[:n] != openBlank {
		return b, n, nil
	}
	n, err := b.read(s)
	if m := wildcards.FindStringSubmatch(s); err != nil && m != nil {
		err = fmt.Errorf("%w; a pattern is an expression, such as [MASK/^%s$/]", err,
			strings.NewReplacer("?", ".", "*", ".*").Replace(m[1]))
	}
	if err != nil {
		err = fmt.Errorf("%q: %w", asWritten(s), err)
	}
	return b, n, err
}

// wildcards are letters with ? and * for others, as shells have them, where options stand.
var wildcards = regexp.MustCompile(`^\[MASK:?([?*]*[A-Za-z]+[?*][A-Za-z?*]*|[?*]+[A-Za-z]+)\]`)

var errUnclosed = errors.New("the blank is not closed; end it with ]")

// read parses the options of a blank in brackets and returns its length.
func (b *Blank) read(s string) (int, error) {
	i := len(openBlank)
	for last := byte(0); i < len(s); {
		c := s[i]
		if c == ']' {
			return i + 1, nil
		}
		rank := strings.IndexByte(blankOptions, c)
		closed := strings.IndexByte("#.|/", last) >= 0
		if last != 0 && (rank <= strings.IndexByte(blankOptions, last) || closed) {
			return 0, errors.New("options come once each, in the order :name, *count, and then #, a dot, " +
				"|words| or /expression/")
		}
		last = c
		i++
		var n int
		var err error
		switch c {
		case ':':
			n, err = b.readName(s[i:])
		case '*':
			n, err = b.readCount(s[i:])
		case '.':
			b.Punctuation = true
		case '#':
			b.Number = true
		case '|':
			n, err = b.readWords(s[i:])
		case '/':
			n, err = b.readPattern(s[i:])
		default:
			err = errors.New("want ], :, *, #, a dot, | or /")
		}
		if err != nil {
			return 0, err
		}
		i += n
	}
	return 0, errUnclosed
}

func (b *Blank) readName(s string) (int, error) {
	n := len(s) - len(strings.TrimLeftFunc(s, func(r rune) bool {
		return r < utf8.RuneSelf && isLetterOrDigit(r) || r == '_' || r == '-'
	}))
	if n == 0 || n > maxBlankName {
		return 0, fmt.Errorf("a name is 1 to %d letters, digits, _ or -", maxBlankName)
	}
	b.Name = s[:n]
	return n, nil
}

func (b *Blank) readCount(s string) (int, error) {
	digits := func(s string) (int, int) {
		n := len(s) - len(strings.TrimLeft(s, "0123456789"))
		v, err := strconv.Atoi(s[:n])
		if err != nil {
			v = -1
		}
		return v, n
	}
	lo, n := digits(s)
	hi := lo
	if n < len(s) && s[n] == '-' {
		var k int
		hi, k = digits(s[n+1:])
		n += 1 + k
	}
	b.Counted = true
	words := n < len(s) && s[n] == 'w'
	switch {
	case n == 0 && words:
		b.ofWords(1, 1)
		return 1, nil
	case n == 0 && s != "" && strings.IndexByte(":*#.|/]", s[0]) >= 0:
		b.Min, b.Max = 1, phraseTokens
		return 0, nil
	case lo < 1 || hi < lo || hi > MaxTokens:
		return 0, fmt.Errorf("a count is a number from 1 to %d, or a range of them such as *1-3; a w "+
			"behind it counts words, as in *2w", MaxTokens)
	case words:
		b.ofWords(lo, hi)
		return n + 1, nil
	}
	b.Min, b.Max = lo, hi
	return n, nil
}

// errManyWords is the cause of an ErrManyWords.
var errManyWords = fmt.Errorf("more than %d alternatives; put them into a list of allowed words",
	maxBlankWords)

// readWords reads alternatives up to the closing bracket. A backslash takes
// the next character as it is.
func (b *Blank) readWords(s string) (int, error) {
	var word strings.Builder
	add := func() error {
		w := strings.TrimSpace(word.String())
		if w == "" {
			return errors.New("an alternative is empty")
		}
		if len(b.Words) == maxBlankWords {
			return errManyWords
		}
		b.Words = append(b.Words, w)
		word.Reset()
		return nil
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			i++
			if i == len(s) {
				return 0, errUnclosed
			}
			word.WriteByte(s[i])
		case '|':
			if err := add(); err != nil {
				return 0, err
			}
		case ']':
			return i, add()
		default:
			word.WriteByte(c)
		}
	}
	return 0, errUnclosed
}

// readPattern reads an expression up to the first /]; \/ is a slash.
func (b *Blank) readPattern(s string) (int, error) {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '\\' {
			i++
			continue
		}
		if s[i] != '/' || s[i+1] != ']' {
			continue
		}
		expr := strings.ReplaceAll(s[:i], `\/`, "/")
		if expr == "" || len(expr) > maxBlankPattern {
			return 0, fmt.Errorf("a regular expression has 1 to %d bytes", maxBlankPattern)
		}
		re, err := regexp.Compile(expr)
		if err != nil {
			return 0, fmt.Errorf("%w (RE2 syntax)", err)
		}
		b.Pattern = re
		return i + 1, nil
	}
	return 0, errors.New("the regular expression is not closed; end it with /]")
}

// A Group is a blank, or several that are tied, with the options of all.
type Group struct {
	Blank
	Blanks []int // numbers of its blanks, ascending
}

// groups merges tied blanks. Options may stand at one of them or at several,
// if they are the same.
func groups(blanks []Blank) ([]Group, error) {
	var out []Group
	byName := map[string]int{}
	for i, b := range blanks {
		g, seen := byName[b.Name]
		if b.Name == "" || !seen {
			byName[b.Name] = len(out)
			out = append(out, Group{Blank: b, Blanks: []int{i}})
			continue
		}
		was := &out[g]
		was.Blanks = append(was.Blanks, i)
		bare, wasBare := b.bare(), was.bare()
		switch {
		case bare:
		case wasBare:
			b.Start, b.End, b.Pos = was.Start, was.End, was.Pos
			was.Blank = b
		case !sameOptions(was.Blank, b):
			return nil, &Error{b.Start, fmt.Sprintf("the blanks called %s ask for different things; "+
				"write the options at one of them", b.Name), ErrBlank}
		}
	}
	return out, nil
}

// bare reports whether the spelling asks for nothing but the name.
func (b *Blank) bare() bool {
	return !b.Counted && b.Words == nil && b.Pattern == nil && !b.Punctuation && !b.Number
}

func sameOptions(a, b Blank) bool {
	pattern := func(b Blank) string {
		if b.Pattern == nil {
			return ""
		}
		return b.Pattern.String()
	}
	return a.Min == b.Min && a.Max == b.Max && a.MaxWords == b.MaxWords && a.Number == b.Number &&
		a.Punctuation == b.Punctuation && pattern(a) == pattern(b) &&
		strings.Join(a.Words, "\x00") == strings.Join(b.Words, "\x00")
}

// ofWords has the blank take some words.
func (b *Blank) ofWords(least, most int) {
	b.MinWords, b.MaxWords = least, most
	b.Min, b.Max = least, min(MaxWordTokens*most, MaxTokens)
}
