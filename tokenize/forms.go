package tokenize

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A normalizer changes the characters of a stretch of text. Every character
// keeps the bytes of the text that it came from. start is where the stretch
// begins in the text.
type normalizer interface {
	run(chars []char, start int32) ([]char, error)
}

// errGrowth: a normalizer makes a text much longer than it was. The longest
// that any does to a real one is 18 characters for one.
var errGrowth = problem(ErrTooLarge, "the tokenizer's normalizer makes the text many times "+
	"longer; its rules are not those of a real model")

// grown reports whether out characters are too many for what was in.
func grown(in, out int) bool { return out > 32*in+1024 }

// A change is a character that a normalizer puts out: 0 stands for one
// character that came in, 1 is further to the one before it, and −n stands for
// n+1 characters. Origins follow from these counts as in Hugging Face's
// tokenizers: what stands for several characters has the bytes of the first.
type change struct {
	r rune
	n int
}

// transform gives changes the origins of the characters that they stand for.
// skip characters at the start are dropped.
func transform(old []char, changes []change, skip int, start int32) []char {
	out := make([]char, 0, len(changes))
	at := skip
	for _, c := range changes {
		o := char{lo: start, hi: start}
		switch {
		case c.n > 0 && at > 0:
			o = old[at-1]
		case len(old) > 0: // also for one that is further to nothing
			o = old[min(at, len(old)-1)]
		}
		if c.n <= 0 {
			at += 1 - c.n
		}
		out = append(out, char{r: c.r, lo: o.lo, hi: o.hi})
	}
	return out
}

// form is one of Unicode's four normalisation forms, with the tables that
// Hugging Face's tokenizers have (about Unicode 12).
type form struct {
	compatible bool // NFKC, NFKD
	compose    bool // NFC, NFKC
}

// firstMark is the first character that composes with, or is reordered among,
// its neighbours.
const firstMark = 0x300

// firstCompatible is the first character with a compatibility decomposition.
const firstCompatible = 0xA0

func (f form) run(chars []char, start int32) ([]char, error) {
	// Characters below this stay as they are.
	plain := rune(0xC0)
	switch {
	case f.compatible:
		plain = firstCompatible
	case f.compose:
		plain = firstMark
	}
	if !slices.ContainsFunc(chars, func(c char) bool { return c.r >= plain }) {
		return chars, nil
	}
	changes := make([]change, 0, len(chars)+8)
	for _, c := range chars {
		changes = f.decompose(changes, c.r)
	}
	eachRun(changes, func(c change) rune { return c.r }, func(run []change) {
		slices.SortStableFunc(run, func(a, b change) int { return int(class(a.r)) - int(class(b.r)) })
	})
	if f.compose {
		changes = compose(changes)
	}
	return transform(chars, changes, 0, start), nil
}

// decompose appends the full decomposition of r.
func (f form) decompose(out []change, r rune) []change {
	if r < firstCompatible {
		return append(out, change{r, 0})
	}
	var chars [24]char
	ds := chars[:0]
	if f.compatible {
		ds = decomposeCompatible(ds, r)
	} else {
		ds = decompose(ds, char{r: r})
	}
	for i, d := range ds {
		out = append(out, change{d.r, min(i, 1)})
	}
	return out
}

func decomposeCompatible(out []char, r rune) []char {
	d := norm.NFKD.PropertiesString(string(r)).Decomposition()
	if len(d) == 0 || r >= hangulBase && r < hangulBase+hangulCount || unicode.Is(laterCompatible, r) {
		return decompose(out, char{r: r})
	}
	for _, c := range string(d) {
		out = append(out, char{r: c})
	}
	return out
}

// compose puts decomposed characters together (Unicode Standard, section
// 3.11), adding up what they stand for.
func compose(in []change) []change {
	out := make([]change, 0, len(in))
	var base change
	var waiting []change // marks between base and the next character
	open := false
	for _, c := range in {
		cc := class(c.r)
		if !open {
			if cc != 0 {
				out = append(out, c)
			} else {
				base, open = c, true
			}
			continue
		}
		blocked := len(waiting) > 0 && class(waiting[len(waiting)-1].r) >= cc
		if !blocked {
			if r, ok := composed(base.r, c.r); ok {
				base = change{r, base.n + c.n - 1}
				continue
			}
		}
		if cc == 0 {
			out = append(append(out, base), waiting...)
			base, waiting = c, waiting[:0]
			continue
		}
		waiting = append(waiting, c)
	}
	if open {
		out = append(append(out, base), waiting...)
	}
	return out
}

// composed is the character that two others become.
func composed(a, b rune) (rune, bool) {
	if b < firstMark || b < 0x900 && class(b) == 0 { // the first letter that composes is U+09BE
		return 0, false
	}
	both := []rune(norm.NFC.String(string(a) + string(b)))
	if len(both) != 1 || both[0] == undecomposed || both[0] >= 0x105C9 && both[0] <= 0x105E4 ||
		both[0] >= 0x11383 && both[0] <= 0x113C8 ||
		both[0] >= 0x16121 && both[0] <= 0x16D6A { // newer than the tables
		return 0, false
	}
	return both[0], true
}

// lowercase is a normalizer that makes every character lower case.
type lowercase struct{}

func (lowercase) run(chars []char, _ int32) ([]char, error) {
	out := make([]char, 0, len(chars))
	for _, c := range chars {
		two := c.r == 'İ' // the only character whose lower case is two
		if c.r = toLower(c.r); two {
			out = append(out, char{'i', c.lo, c.hi, c.made}, char{r: '\u0307', lo: c.lo, hi: c.hi})
		} else {
			out = append(out, c)
		}
	}
	return out, nil
}

// stripMarks drops combining marks.
type stripMarks struct{}

func (stripMarks) run(chars []char, _ int32) ([]char, error) {
	return slices.DeleteFunc(chars, func(c char) bool {
		return c.r >= firstMark && isMark(c.r)
	}), nil
}

// nmt drops control characters, and makes spaces of white space and of characters without a form.
type nmt struct{}

var (
	nmtDropped = rangeTable([][2]rune{{1, 8}, {0xB, 0xB}, {0xE, 0x1F}, {0x7F, 0x7F}, {0x8F, 0x8F},
		{0x9F, 0x9F}})
	nmtSpaces = rangeTable([][2]rune{{'\t', '\n'}, {'\f', '\r'}, {0x1680, 0x1680}, {0x200B, 0x200F},
		{0x2028, 0x2029}, {0x2581, 0x2581}, {0xFEFF, 0xFEFF}, {0xFFFD, 0xFFFD}})
)

func (nmt) run(chars []char, _ int32) ([]char, error) {
	out := slices.DeleteFunc(chars, func(c char) bool { return unicode.Is(nmtDropped, c.r) })
	for i := range out {
		if unicode.Is(nmtSpaces, out[i].r) {
			out[i].r = ' '
		}
	}
	return out, nil
}

// stripSpace drops white space at the ends.
type stripSpace struct{ left, right bool }

func (s stripSpace) run(chars []char, _ int32) ([]char, error) {
	for s.right && len(chars) > 0 && isWhite(chars[len(chars)-1].r) {
		chars = chars[:len(chars)-1]
	}
	for s.left && len(chars) > 0 && isWhite(chars[0].r) {
		chars = chars[1:]
	}
	return chars, nil
}

// replace puts content in the place of everything that match finds.
type replace struct {
	match   func(chars []char) int // length of the match that chars begins with; 0 if none
	content []rune
}

func (p replace) run(chars []char, _ int32) ([]char, error) {
	out := make([]char, 0, len(chars))
	for i := 0; i < len(chars); {
		n := p.match(chars[i:])
		if n == 0 {
			out = append(out, chars[i])
			i++
			continue
		}
		last := chars[i+n-1]
		for _, r := range p.content {
			out = append(out, char{r: r, lo: last.lo, hi: last.hi})
		}
		i += n
		if grown(len(chars), len(out)) {
			return nil, errGrowth
		}
	}
	return out, nil
}

// literal matches a string.
func literal(s string) func([]char) int {
	want := []rune(s)
	return func(chars []char) int {
		if len(chars) < len(want) {
			return 0
		}
		for i, r := range want {
			if chars[i].r != r {
				return 0
			}
		}
		return len(want)
	}
}

// patterns are the regular expressions that tokenizers of this family replace.
var patterns = map[string]func([]char) int{
	` {2,}`: func(chars []char) int {
		if n := span(chars, 0, func(r rune) bool { return r == ' ' }); n > 1 {
			return n
		}
		return 0
	},
	`\s{2,}|[\n\r\t]`: func(chars []char) int {
		n := span(chars, 0, isWhite)
		if n == 1 && !strings.ContainsRune("\n\r\t", chars[0].r) {
			return 0
		}
		return n
	},
}
