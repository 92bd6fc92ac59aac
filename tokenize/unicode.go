package tokenize

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Hugging Face's tokenizers ask Unicode tables of several years, Go's are of Unicode 15. Here is
// where they differ. A range of what came later goes over characters of other kinds where that
// makes one of several. TestUnicode and TestUnicodePipeline compare the answers for every
// character, so that another release of Go with other tables is noticed.
var (
	// newLetters, newNumbers and newMarks are of Unicode 16.
	newLetters = rangeTable([][2]rune{
		{0x1c89, 0x1c8a}, {0xa7cb, 0xa7cd}, {0xa7da, 0xa7dc}, {0x105c0, 0x105f3}, {0x10d4a, 0x10d65},
		{0x10d6f, 0x10d85}, {0x10ec2, 0x10ec4}, {0x11380, 0x11389}, {0x1138b, 0x1138b},
		{0x1138e, 0x1138e}, {0x11390, 0x113b5}, {0x113b7, 0x113b7}, {0x113d1, 0x113d1},
		{0x113d3, 0x113d3}, {0x11bc0, 0x11be0}, {0x13460, 0x143fa}, {0x16100, 0x1611d},
		{0x16d40, 0x16d6c}, {0x18cff, 0x18cff}, {0x1e5d0, 0x1e5ed}, {0x1e5f0, 0x1e5f0},
		{0x2ebf0, 0x2ee5d},
	})
	newNumbers = rangeTable([][2]rune{
		{0x10d40, 0x10d49}, {0x116d0, 0x116e3}, {0x11bf0, 0x11bf9}, {0x16130, 0x16139},
		{0x16d70, 0x16d79}, {0x1ccf0, 0x1ccf9}, {0x1e5f1, 0x1e5fa},
	})
	newMarks = rangeTable([][2]rune{
		{0x897, 0x897}, {0x10d69, 0x10d6d}, {0x10efc, 0x10efc}, {0x113b8, 0x113c0},
		{0x113c2, 0x113c2}, {0x113c5, 0x113c5}, {0x113c7, 0x113ca}, {0x113cc, 0x113d0},
		{0x113d2, 0x113d2}, {0x113e1, 0x113e2}, {0x11f5a, 0x11f5a}, {0x1611e, 0x1612f},
		{0x1e5ee, 0x1e5ef},
	})
	// laterMarks came after Unicode 9, whose marks and combining classes count.
	laterMarks = rangeTable([][2]rune{
		{0x7fd, 0x7fd}, {0x898, 0x8d3}, {0x9fe, 0x9fe}, {0xafa, 0xaff}, {0xb55, 0xb55},
		{0xc04, 0xc3c}, {0xcf3, 0xd00}, {0xd3b, 0xd3c}, {0xd81, 0xd81}, {0xeba, 0xeba},
		{0xece, 0xece}, {0x1715, 0x1715}, {0x180f, 0x180f}, {0x1abf, 0x1ace}, {0x1cf7, 0x1cf7},
		{0x1df6, 0x1dfa}, {0xa82c, 0xa82c}, {0xa8ff, 0xa8ff}, {0x10d24, 0x10f85}, {0x11070, 0x11074},
		{0x110c2, 0x110c2}, {0x11145, 0x11146}, {0x111c9, 0x111c9}, {0x111ce, 0x111cf},
		{0x11241, 0x11241}, {0x1133b, 0x1133b}, {0x1145e, 0x1145e}, {0x1182c, 0x11a99},
		{0x11d31, 0x13455}, {0x16f4f, 0x16f4f}, {0x16f7f, 0x16f87}, {0x16fe4, 0x16ff1},
		{0x1cf00, 0x1cf46}, {0x1e08f, 0x1e4ef},
	})
	// laterAccents are the marks of Unicode 9 that BERT's normalizer, with tables of Unicode 8, keeps.
	laterAccents = rangeTable([][2]rune{
		{0x8d4, 0x8e1}, {0x1885, 0x1886}, {0x1dfb, 0x1dfb}, {0xa8c5, 0xa8c5}, {0xa9bd, 0xa9bd},
		{0x1123e, 0x1123e}, {0x11438, 0x11446}, {0x11c30, 0x11cb6}, {0x1e000, 0x1e02a},
		{0x1e944, 0x1e94a},
	})
	// laterPunctuation came after Unicode 8.
	laterPunctuation = rangeTable([][2]rune{
		{0x61d, 0x61d}, {0x9fd, 0xa76}, {0xc77, 0xc84}, {0x1b7d, 0x1b7e}, {0x2e43, 0x2e5d},
		{0x10ead, 0x10f89}, {0x1144b, 0x1145d}, {0x11660, 0x116b9}, {0x1183b, 0x11fff},
		{0x12ff1, 0x12ff2}, {0x16e97, 0x16fe2}, {0x1e95e, 0x1e95f},
	})
	// laterCompatible got their decompositions after Unicode 12.
	laterCompatible = rangeTable([][2]rune{
		{0x32ff, 0x32ff}, {0xa7f2, 0xa7f4}, {0xab69, 0xab69}, {0x10781, 0x107ba}, {0x11938, 0x11938},
		{0x1e030, 0x1e06d}, {0x1f16c, 0x1f16c}, {0x1fbf0, 0x1fbf9},
	})
	// removed are the characters that text cleaning drops: those of control and format, and of
	// private use.
	removed = rangeTable([][2]rune{
		{0x0, 0x8}, {0xb, 0xc}, {0xe, 0x1f}, {0x7f, 0x9f}, {0xad, 0xad}, {0x600, 0x605},
		{0x61c, 0x61c}, {0x6dd, 0x6dd}, {0x70f, 0x70f}, {0x180e, 0x180e}, {0x200b, 0x200f},
		{0x202a, 0x202e}, {0x2060, 0x2064}, {0x2066, 0x206f}, {0xe000, 0xf8ff}, {0xfeff, 0xfeff},
		{0xfff9, 0xfffb}, {0xfffd, 0xfffd}, {0x110bd, 0x110bd}, {0x1bca0, 0x1bca3},
		{0x1d173, 0x1d17a}, {0xe0001, 0xe0001}, {0xe0020, 0xe007f}, {0xf0000, 0xffffd},
		{0x100000, 0x10fffd},
	})
	// inWord are the characters that \w stands for.
	inWord = []*unicode.RangeTable{unicode.Letter, unicode.Mark, unicode.Nd, unicode.Nl, unicode.Pc,
		unicode.Other_Alphabetic, unicode.Join_Control, newLetters, newNumbers, newMarks}
)

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

// isWhite is the White_Space property.
func isWhite(r rune) bool { return unicode.IsSpace(r) }

// isLetter is category L, isNumber N.
func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.Is(newLetters, r) }
func isNumber(r rune) bool { return unicode.IsNumber(r) || unicode.Is(newNumbers, r) }

// isMark is category M of Unicode 9, when U+1CF2 and U+1CF3 were marks.
func isMark(r rune) bool {
	return unicode.IsMark(r) && !unicode.Is(laterMarks, r) || r == 0x1CF2 || r == 0x1CF3
}

// isAccent is category Mn of Unicode 8, when U+1734 had it.
func isAccent(r rune) bool {
	return unicode.Is(unicode.Mn, r) && isMark(r) && !unicode.Is(laterAccents, r) || r == 0x1734
}

// isPunct is BERT's punctuation: every ASCII symbol, and category P of Unicode 8, when U+166D and
// U+111C9 had it.
func isPunct(r rune) bool {
	if r < utf8.RuneSelf {
		return unicode.IsPunct(r) || unicode.IsSymbol(r)
	}
	return unicode.IsPunct(r) && !unicode.Is(laterPunctuation, r) || r == 0x166D || r == 0x111C9
}

// class is the canonical combining class.
func class(r rune) uint8 {
	if r < firstMark || !isMark(r) {
		return 0
	}
	var buf [utf8.UTFMax]byte
	return norm.NFD.Properties(buf[:utf8.EncodeRune(buf[:], r)]).CCC()
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
