package tokenize

// atPattern is the splitter Split of a tokenizer.json: every match of a pattern is a
// stretch, and so is what lies between matches. With join a match belongs to the stretch
// before it, unless that is a match too.
type atPattern struct {
	match func(chars []char) int // length of the match that chars begins with; 0 if none
	join  bool
}

func (p atPattern) cut(chars []char, _ bool) (out [][]char) {
	lo, matched := 0, false // matched: the last stretch was a match
	for i := 0; i < len(chars); {
		n := p.match(chars[i:])
		if n == 0 {
			i++
			continue
		}
		if p.join && (!matched || lo != i) && i > 0 {
			out = append(out, chars[lo:i+n:i+n])
		} else {
			if lo < i {
				out = append(out, chars[lo:i:i])
			}
			out = append(out, chars[i:i+n:i+n])
		}
		i += n
		lo, matched = i, true
	}
	if lo < len(chars) {
		out = append(out, chars[lo:])
	}
	return out
}

// wordPatterns are the regular expressions that tokenizers of this family split words by.
var wordPatterns = map[string]func([]char) int{
	llamaStart + `\p{N}{1,3}` + llamaEnd: func(c []char) int { return llamaWord(c, 3) }, // Llama 3
	llamaStart + `\p{N}` + llamaEnd:      func(c []char) int { return llamaWord(c, 1) }, // Qwen 2
}

const (
	llamaStart = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|`
	llamaEnd   = `| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// llamaWord is the length of the match at the start of chars, by the first alternative
// that matches: the ending of a contraction, letters with one other character before
// them, up to digits numbers, symbols with a space before and line ends behind them, white
// space up to its last line end, other white space without what the next word takes. One
// of them always matches.
func llamaWord(chars []char, digits int) int {
	if n := contraction(chars, true); n > 0 {
		return n
	}
	is := func(class uint8) func(rune) bool {
		return func(r rune) bool { return classOf(r) == class }
	}
	first := 0
	if c := classOf(chars[0].r); c != letterClass && c != numberClass && !isLineEnd(chars[0].r) {
		first = 1
	}
	if n := span(chars, first, is(letterClass)); n > first {
		return n
	}
	if n := span(chars, 0, is(numberClass)); n > 0 {
		return min(n, digits)
	}
	first = 0
	if chars[0].r == ' ' {
		first = 1
	}
	if n := span(chars, first, is(otherClass)); n > first {
		return span(chars, n, isLineEnd)
	}
	n := span(chars, 0, isWhite)
	for i := n; i > 0; i-- {
		if isLineEnd(chars[i-1].r) {
			return i
		}
	}
	if n < len(chars) && n > 1 {
		n--
	}
	return n
}

func isLineEnd(r rune) bool { return r == '\r' || r == '\n' }
