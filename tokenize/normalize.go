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
	chars  []char // scratch
	next   []char // scratch
}

func (n *normalised) reset() {
	n.text, n.lo, n.hi = n.text[:0], n.lo[:0], n.hi[:0]
}

// run appends the normalised form of seg to n; origins are offset by base.
// seg must be valid UTF-8.
func (b bertNormalizer) run(n *normalised, seg string, base int) {
	chars := n.chars[:0]
	for i, r := range seg {
		c := char{r: r, lo: int32(base + i), hi: int32(base + i + utf8.RuneLen(r))}
		if b.clean {
			if inRanges(removedTable, r) {
				continue
			}
			if isWhite(r) {
				c.r = ' '
			}
		}
		if b.chinese && isChinese(r) {
			space := char{r: ' ', lo: c.lo, hi: c.hi}
			chars = append(chars, space, c, space)
			continue
		}
		chars = append(chars, c)
	}
	n.chars = chars
	if b.strip {
		chars = stripAccents(n, chars)
	}
	for _, c := range chars {
		r := c.r
		if b.lower {
			if r == 'İ' { // the only character whose lower case is two
				n.add('i', c)
				r = '\u0307'
			} else {
				r = toLower(r)
			}
		}
		n.add(r, c)
	}
}

func (n *normalised) add(r rune, c char) {
	n.text = utf8.AppendRune(n.text, r)
	for len(n.lo) < len(n.text) {
		n.lo = append(n.lo, c.lo)
		n.hi = append(n.hi, c.hi)
	}
}

// stripAccents decomposes canonically and drops the non-spacing marks.
func stripAccents(n *normalised, chars []char) []char {
	out := n.next[:0]
	for _, c := range chars {
		if c.r < 0xC0 {
			out = append(out, c)
			continue
		}
		out = decompose(out, c)
	}
	reorder(out)
	kept := out[:0]
	for _, c := range out {
		if c.r < 0x300 || !inRanges(markTable, c.r) {
			kept = append(kept, c)
		}
	}
	n.next = out
	return kept
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

// reorder sorts every run of combining characters by its combining class,
// stably.
func reorder(chars []char) {
	for i := 0; i < len(chars); {
		if class(chars[i].r) == 0 {
			i++
			continue
		}
		j := i + 1
		for j < len(chars) && class(chars[j].r) != 0 {
			j++
		}
		if j-i > 1 {
			sortMarks(chars[i:j])
		}
		i = j
	}
}

// sortMarks sorts one run. Origins do not move with the characters, so that
// they never decrease: as in Hugging Face's tokenizers the characters that
// stood in the text take the origins in order, and one that a decomposition
// made takes the origin of its neighbour.
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

// A classRange is a range of characters of one canonical combining class.
type classRange struct {
	lo, hi rune
	class  uint8
}

// class is the canonical combining class.
func class(r rune) uint8 {
	if r < 0x300 {
		return 0
	}
	i, ok := slices.BinarySearchFunc(classRanges, r, func(c classRange, r rune) int {
		switch {
		case c.hi < r:
			return -1
		case c.lo > r:
			return 1
		}
		return 0
	})
	if !ok {
		return 0
	}
	return classRanges[i].class
}

// isChinese follows the ranges of Google's BERT. They are ideographs only:
// kana and Hangul are written with spaces or not split at all.
func isChinese(r rune) bool {
	return r >= 0x3400 && (r <= 0x4DBF ||
		r >= 0x4E00 && r <= 0x9FFF ||
		r >= 0xF900 && r <= 0xFAFF ||
		r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B81F ||
		r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0x2F800 && r <= 0x2FA1F)
}

// isWhite is the White_Space property.
func isWhite(r rune) bool { return unicode.IsSpace(r) }

// isPunct is BERT's punctuation: every ASCII symbol, and category P.
func isPunct(r rune) bool { return inRanges(punctTable, r) }

// toLower is the simple lower case of Unicode 17, which Hugging Face uses;
// the letters that Go's older tables lack are listed.
func toLower(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	switch {
	case r >= 0x10D50 && r <= 0x10D65: // Garay
		return r + 0x20
	case r >= 0x16EA0 && r <= 0x16EB8: // Beria Erfe
		return r + 0x1B
	}
	switch r {
	case 0xA7CB:
		return 0x264
	case 0xA7DC:
		return 0x19B
	case 0x1C89, 0xA7CC, 0xA7CE, 0xA7D2, 0xA7D4, 0xA7DA:
		return r + 1
	}
	return unicode.ToLower(r)
}

var (
	removedTable = rangeTable(removedRanges)
	markTable    = rangeTable(markRanges)
	punctTable   = rangeTable(punctRanges)

	letterTable     = rangeTable(letterRanges)
	numberTable     = rangeTable(numberRanges)
	combiningTable  = rangeTable(combiningRanges)
	compatibleTable = rangeTable(compatibleRanges)
)

func inRanges(t *unicode.RangeTable, r rune) bool { return unicode.Is(t, r) }

// rangeTable puts sorted, disjoint ranges into the form that package unicode searches.
func rangeTable(ranges [][2]rune) *unicode.RangeTable {
	t := new(unicode.RangeTable)
	for _, r := range ranges {
		if r[1] <= 0xFFFF {
			t.R16 = append(t.R16, unicode.Range16{Lo: uint16(r[0]), Hi: uint16(r[1]), Stride: 1})
			if r[1] <= unicode.MaxLatin1 {
				t.LatinOffset++
			}
		} else {
			t.R32 = append(t.R32, unicode.Range32{Lo: uint32(r[0]), Hi: uint32(r[1]), Stride: 1})
		}
	}
	return t
}
