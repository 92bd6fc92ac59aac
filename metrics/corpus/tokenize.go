package corpus

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isSpace is Python's str.isspace, which NLTK users and sacrebleu split on: the
// white space of Unicode and the four information separators U+001C–U+001F.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// words are the maximal runs of non-space characters, Python's str.split().
func words(line string) iter.Seq[string] { return strings.FieldsFuncSeq(line, isSpace) }

// rewritten is a line of its words as a function has them, with single spaces between.
func rewritten(line string, as func(word string) string) string {
	var b strings.Builder
	for w := range words(line) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(as(w))
	}
	return b.String()
}

// pairs rewrites a line from left to right without overlap: where first and second hold for two
// neighbouring characters, both are written with a space between, and one before or else behind
// them, and skipped. Else one character is copied. It is what re.sub does with a pattern of two
// one-character groups.
func pairs(in []rune, first, second func(rune) bool, before bool) []rune {
	out := make([]rune, 0, len(in)+8)
	for i := 0; i < len(in); i++ {
		switch {
		case i+1 == len(in) || !first(in[i]) || !second(in[i+1]):
			out = append(out, in[i])
			continue
		case before:
			out = append(out, ' ', in[i], ' ', in[i+1])
		default:
			out = append(out, in[i], ' ', in[i+1], ' ')
		}
		i++
	}
	return out
}

// around puts spaces on both sides of every character for which is holds.
func around(in []rune, is func(rune) bool) []rune {
	out := make([]rune, 0, len(in)+8)
	for _, r := range in {
		if is(r) {
			out = append(out, ' ', r, ' ')
		} else {
			out = append(out, r)
		}
	}
	return out
}

func isDigit(r rune) bool     { return r >= '0' && r <= '9' }
func notDigit(r rune) bool    { return !isDigit(r) }
func isPeriod(r rune) bool    { return r == '.' || r == ',' }
func isDash(r rune) bool      { return r == '-' }
func isPunct(r rune) bool     { return unicode.Is(unicode.P, r) }
func isSymbol(r rune) bool    { return unicode.Is(unicode.S, r) }
func notNumber(r rune) bool   { return !unicode.Is(unicode.N, r) }
func isASCIIPun(r rune) bool  { return r < utf8.RuneSelf && unicode.In(r, unicode.P, unicode.S) }
func is13aSymbol(r rune) bool { return strings.ContainsRune(signs13a, r) }

// signs13a are the characters of mteval-v13a's class [\{-\~\[-\` -\&\(-\+\:-\@\/].
const signs13a = "{|}~[\\]^_` !\"#$%&()*+:;<=>?@/"

var unescape13a = strings.NewReplacer("&quot;", `"`)

// cut13a is mteval-v13a.pl's tokenisation in sacrebleu's reading of it.
func cut13a(line string) string {
	line = strings.TrimRightFunc(line, isSpace)
	line = strings.ReplaceAll(line, "<skipped>", "")
	line = strings.ReplaceAll(line, "-\n", "")
	line = strings.ReplaceAll(line, "\n", " ")
	if strings.Contains(line, "&") {
		// One after the other, not in one pass: "&amp;lt;" becomes "<".
		line = unescape13a.Replace(line)
		line = strings.ReplaceAll(line, "&amp;", "&")
		line = strings.ReplaceAll(line, "&lt;", "<")
		line = strings.ReplaceAll(line, "&gt;", ">")
	}
	return western([]rune(" " + line + " "))
}

// western is what sacrebleu's 13a and zh have in common: signs stand alone, and so do full stops,
// commas and dashes outside of numbers.
func western(r []rune) string {
	r = around(r, is13aSymbol)
	r = pairs(r, notDigit, isPeriod, false)
	r = pairs(r, isPeriod, notDigit, true)
	return string(pairs(r, isDigit, isDash, false))
}

// chinese are the characters that stand alone in sacrebleu's zh. Two of its ranges are written with
// five digits. Python reads four, so that they begin at U+2001 and U+2F81.
var chinese = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x2001, Hi: 0x2a6d, Stride: 1}, {Lo: 0x2e80, Hi: 0x2fdf, Stride: 1},
	{Lo: 0x2ff0, Hi: 0x303f, Stride: 1}, {Lo: 0x3100, Hi: 0x312f, Stride: 1},
	{Lo: 0x31a0, Hi: 0x31bf, Stride: 1}, {Lo: 0x31c0, Hi: 0x31ef, Stride: 1},
	{Lo: 0x3200, Hi: 0x4db5, Stride: 1}, {Lo: 0x4e00, Hi: 0x9fbb, Stride: 1},
	{Lo: 0xf900, Hi: 0xfa2d, Stride: 1}, {Lo: 0xfa30, Hi: 0xfa6a, Stride: 1},
	{Lo: 0xfa70, Hi: 0xfad9, Stride: 1}, {Lo: 0xfe10, Hi: 0xfe1f, Stride: 1},
	{Lo: 0xfe30, Hi: 0xfe4f, Stride: 1}, {Lo: 0xff00, Hi: 0xffef, Stride: 1},
}}

// cutZh is sacrebleu's zh: every Chinese character is a token, and the rest is cut as in 13a.
func cutZh(line string) string {
	line = strings.TrimFunc(line, isSpace)
	return western(around([]rune(line), func(r rune) bool { return unicode.Is(chinese, r) }))
}

// cutIntl is mteval-v14's international tokenisation as in sacrebleu:
// punctuation is split off unless digits stand on both sides, symbols always.
func cutIntl(line string) string {
	r := []rune(strings.TrimRightFunc(line, isSpace))
	r = pairs(r, notNumber, isPunct, false)
	r = pairs(r, isPunct, notNumber, true)
	return string(around(r, isSymbol))
}

// cutChar makes every character that is not white space a token.
func cutChar(line string) string {
	return string(around([]rune(line), func(r rune) bool { return !isSpace(r) }))
}

// marker is a whole word that no tokenisation of BERT's cuts.
var marker = regexp.MustCompile(`^\[[A-Za-z_]+\]$`)

// cutBERT splits every ASCII punctuation sign off, as BERT's basic tokeniser does.
func cutBERT(line string) string {
	return rewritten(line, func(w string) string {
		if w[0] == '[' && marker.MatchString(w) {
			return w
		}
		return string(around([]rune(w), isASCIIPun))
	})
}

// glue lists Hugging Face's clean_up_tokenization replacements, in its order.
var glue = [...][2]string{
	{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"},
	{" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
}

// glued joins the line's tokens with single spaces and then glues punctuation and
// English contractions to the word before, as Hugging Face tokenisers do when
// they decode. On text that references keep token-separated this costs about a
// third of corpus BLEU, which is why it is a named option and never the default.
func glued(line string) string {
	s := strings.Join(slices.Collect(words(line)), " ")
	for _, g := range glue {
		s = strings.ReplaceAll(s, g[0], g[1])
	}
	return s
}
