package tokenize

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// bertNormalizer is BERT's text normaliser: clean, isolate CJK, strip accents,
// lower-case, in this order. It is context-free apart from the canonical
// reordering of combining marks, so it may run on any stretch of text that
// begins and ends at ASCII whitespace or at a special token.
type bertNormalizer struct {
	clean   bool // drop control characters, turn every whitespace into a space
	chinese bool // put spaces around CJK ideographs
	strip   bool // decompose (NFD) and drop non-spacing marks
	lower   bool
}

// A char is a character on its way through the normaliser with the bytes of
// the segment that it came from. New characters carry the origin of the one
// they were made from, dropped ones are in the origin of none.
type char struct {
	r      rune
	lo, hi int32
	made   bool // by a decomposition, after the first of its characters
}

// normalised is a segment after normalisation. Byte i of text comes from bytes
// lo[i] to hi[i] of the segment.
type normalised struct {
	text   []byte
	lo, hi []int32
}

func (n *normalised) reset() {
	n.text, n.lo, n.hi = n.text[:0], n.lo[:0], n.hi[:0]
}

// cleaned appends what the first two steps leave of a character.
func (b bertNormalizer) cleaned(out []char, c char) []char {
	if c.r >= ' ' && c.r < 0x7F {
		return append(out, c)
	}
	if b.clean {
		if unicode.Is(removed, c.r) {
			return out
		}
		if isWhite(c.r) {
			c.r = ' '
		}
	}
	if b.chinese && isChinese(c.r) {
		space := char{r: ' ', lo: c.lo, hi: c.hi}
		return append(out, space, c, space)
	}
	return append(out, c)
}

func (b bertNormalizer) run(chars []char, start int32) ([]char, error) {
	out := make([]char, 0, len(chars))
	for _, c := range chars {
		out = b.cleaned(out, c)
	}
	if b.strip {
		out = stripAccents(out)
	}
	if b.lower {
		return lowercase{}.run(out, start)
	}
	return out, nil
}

func (n *normalised) add(r rune, c char) {
	n.text = utf8.AppendRune(n.text, r)
	for len(n.lo) < len(n.text) {
		n.lo = append(n.lo, c.lo)
		n.hi = append(n.hi, c.hi)
	}
}

// stripAccents decomposes canonically and drops the non-spacing marks.
func stripAccents(chars []char) []char {
	out := make([]char, 0, len(chars))
	for _, c := range chars {
		if c.r < 0xC0 {
			out = append(out, c)
			continue
		}
		out = decompose(out, c)
	}
	eachRun(out, func(c char) rune { return c.r }, sortMarks)
	return slices.DeleteFunc(out, func(c char) bool { return c.r >= firstMark && isAccent(c.r) })
}

const (
	hangulBase, hangulCount      = 0xAC00, 11172
	jamoL, jamoV, jamoT          = 0x1100, 0x1161, 0x11A7
	hangulVT, hangulT            = 588, 28 // 21 × 28, 28
	undecomposed            rune = 0x11938 // newer than Hugging Face's decomposition table
)

// decompose appends the full canonical decomposition of c; all of it has c's origin.
func decompose(out []char, c char) []char {
	add := func(r rune) {
		out = append(out, char{r, c.lo, c.hi, c.made})
		c.made = true
	}
	// Hangul by the formula of the Unicode Standard, section 3.12.
	if s := c.r - hangulBase; s >= 0 && s < hangulCount {
		add(jamoL + s/hangulVT)
		add(jamoV + s%hangulVT/hangulT)
		if t := s % hangulT; t != 0 {
			add(jamoT + t)
		}
		return out
	}
	var buf [utf8.UTFMax]byte
	d := norm.NFD.Properties(buf[:utf8.EncodeRune(buf[:], c.r)]).Decomposition()
	if len(d) == 0 || c.r == undecomposed {
		return append(out, c)
	}
	for len(d) > 0 {
		r, size := utf8.DecodeRune(d)
		add(r)
		d = d[size:]
	}
	return out
}

// eachRun gives do, which sorts it, every run of combining characters.
func eachRun[T any](list []T, of func(T) rune, do func(run []T)) {
	for i := 0; i < len(list); i++ {
		from := i
		for i < len(list) && class(of(list[i])) != 0 {
			i++
		}
		if i-from > 1 {
			do(list[from:i])
		}
	}
}

// sortMarks sorts one run by combining class, stably. Origins do not move with the characters, so
// that they never decrease: as in Hugging Face's tokenizers the characters that stood in the text
// take the origins in order, and one that a decomposition made takes the origin of its neighbour.
func sortMarks(run []char) {
	if slices.IsSortedFunc(run, byClass) {
		return
	}
	origins := make([]char, 0, len(run))
	for _, c := range run {
		if !c.made {
			origins = append(origins, c)
		}
	}
	before := run[0]
	slices.SortStableFunc(run, byClass)
	for i := range run {
		if !run[i].made {
			before, origins = origins[0], origins[1:]
		}
		run[i].lo, run[i].hi = before.lo, before.hi
	}
}

func byClass(a, b char) int { return int(class(a.r)) - int(class(b.r)) }
