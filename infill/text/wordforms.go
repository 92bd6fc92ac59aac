package text

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"infill/internal/truecase"
)

// A textWord is a word of a text, as a byte span. One that is fixed is a form for which no word of
// a vocabulary can stand, such as an address or the name of a field.
type textWord struct {
	span  [2]int
	fixed bool
}

// markup are the forms that a text has for something else than words, in six classes. Those in one
// word between signs, such as $x$ and :smile:, are found as words.
var markup = regexp.MustCompile(strings.Join([]string{
	// code of Markdown, in fences and between single backticks; two backticks are a quote
	"(?ms:^ {0,3}```.*?(?:^ {0,3}```|\\z)|^ {0,3}~~~.*?(?:^ {0,3}~~~|\\z))",
	"``+", "`[^`\\s](?:[^`\n]*[^`\\s])?`",
	// tags and comments of HTML, and what chat models have between bars
	`<!--(?s:.*?)-->`,
	`</?\pL[\w:.-]*(?:\s+[\w:@.-]+=(?:"[^"]*"|'[^']*'|[^\s"'<>]+))*\s*/?>`,
	`<\|[^<>|\s]+\|>`,
	// names in brackets and braces, as templates have them
	`\[[^\s\[\]]+\]`, `\{\{[^{}]*\}\}`, `\{%[^{}]*%\}`, `\$?\{[\w.:!-]*\}`,
	// places of printf and Python
	`%\([\w.]+\)[a-zA-Z]?`, `%[0-9.$+-]*[sdifxgu]\b`,
	// formulas, variables and commands
	`\$[^\s$](?:[^$\n]*[^\s$])?\$`, `\$\pL\w*`, `\\\pL+`,
	// characters by name or number
	`&(?:#\d+|#x[0-9a-fA-F]+|\pL\w*);`,
}, "|"))

// wordsOf finds the words of a text: what stands between white space, without punctuation at its
// ends, and the characters of scripts whose words are not set apart. An abbreviation has its stop,
// but for one that ends a sentence as well.
func wordsOf(text string) []textWord {
	var out []textWord
	last := 0
	for _, m := range markup.FindAllStringIndex(text, -1) {
		if !standsAlone(text, m[0], m[1]) {
			continue
		}
		out = appendWords(out, text, last, m[0])
		if isCode(text[m[0]:m[1]]) {
			for _, w := range appendWords(nil, text, m[0], m[1]) {
				out = append(out, textWord{w.span, true})
			}
		} else if strings.ContainsFunc(text[m[0]:m[1]], isLetterOrDigit) {
			out = append(out, textWord{[2]int{m[0], m[1]}, true})
		}
		last = m[1]
	}
	return appendWords(out, text, last, len(text))
}

// isCode reports whether markup is code of Markdown, whose words are words for themselves.
func isCode(of string) bool { return strings.ContainsAny(strings.TrimLeft(of, " ")[:1], "`~") }

// standsAlone reports whether markup with a sign in front begins and ends there. "US$5 or $6" has
// no formula, "50%d" has no field, and "a\b" is the name of a file.
func standsAlone(text string, from, to int) bool {
	last := lastRune(text[:from])
	switch sign := text[from]; {
	case strings.IndexByte(`$%\`, sign) < 0:
		return true
	case isLetterOrDigit(last), sign == '\\' && (last == ':' || last == '\\'):
		return false
	}
	return text[to-1] != '$' || !isLetterOrDigit(firstRune(text[to:]))
}

// appendWords appends the words of a part of a text without markup.
func appendWords(out []textWord, text string, from, to int) []textWord {
	for at := from; at < to; {
		r, n := utf8.DecodeRuneInString(text[at:to])
		switch {
		case unicode.IsSpace(r):
			at += n
		case IsIdeograph(r):
			end := at + n
			for end < to {
				next, n := utf8.DecodeRuneInString(text[end:to])
				if !unicode.IsMark(next) && (!isKatakana(r) || !isKatakana(next)) {
					break
				}
				end += n
			}
			out = append(out, textWord{[2]int{at, end}, false})
			at = end
		default:
			end := at + n
			for end < to {
				r, n := utf8.DecodeRuneInString(text[end:to])
				if unicode.IsSpace(r) || IsIdeograph(r) {
					break
				}
				end += n
			}
			out = appendWord(out, text, at, end)
			at = end
		}
	}
	return out
}

// unspaced are scripts whose words are not set apart and have several characters each. Where they
// end only a dictionary knows.
var unspaced = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
	unicode.Tibetan}

var (
	abbreviation = regexp.MustCompile(
		`^\pL{1,2}\.(?:\pL{1,3}\.)*\pL{1,3}(?:\.?['’]s)?(?:\.?-\pL[\pL-]*)?$`)
	oneLetterEach = regexp.MustCompile(`^\pL(?:\.\pL)+\.?`)
	decimal       = regexp.MustCompile(`^\d+(?:,\d{3})*(?:[.,]\d+)?$`)
	clock         = regexp.MustCompile(`^\d{1,2}[:.]\d\d(?::\d\d)?(?:[ap]m)?$`)
	emoticon      = regexp.MustCompile(`^(?:[:;=8xX]['^-]?[DPpOoSsbcx3]|<3+)$`)
)

// inForms are characters that stand between the letters and digits of addresses, names of files,
// versions, times and fields, but in no other word.
const inForms = `.:/\@_=?#~%<>|*^$[]{}+`

// appendWord appends the word between white space and ideographs, if there is one.
func appendWord(out []textWord, text string, from, to int) []textWord {
	a := strings.IndexFunc(text[from:to], isLetterOrDigit)
	if a < 0 {
		return out
	}
	a += from
	b := from + strings.LastIndexFunc(text[from:to], isLetterOrDigit)
	b += utf8.RuneLen(firstRune(text[b:]))
	if open := text[a:b]; b < to && text[b] == ')' &&
		strings.Count(open, "(") > strings.Count(open, ")") {
		b++ // word(s)
	}
	core, before, after := text[a:b], text[from:a], text[b:to]
	switch {
	case emoticon.MatchString(text[from:to]):
		return append(out, textWord{[2]int{from, to}, true})
	case abbreviation.MatchString(core) &&
		(after != "" && after[0] == '.' || oneLetterEach.MatchString(core)),
		isAbbreviation(core, text[b:]):
		return append(out, textWord{[2]int{a, b + stop(core, text[b:])}, false})
	case strings.HasPrefix(after, ".") && isInitial(core, text[b+1:]):
		return append(out, textWord{[2]int{a, b + 1}, true})
	case decimal.MatchString(core) && !signed(before, after), clock.MatchString(core):
		return append(out, textWord{[2]int{a, b}, false})
	case strings.ContainsAny(core, inForms), signed(before, after),
		strings.ContainsFunc(core, func(r rune) bool { return unicode.In(r, unspaced...) }):
		for a > from && strings.IndexByte(`@#./\~:$%_|`, text[a-1]) >= 0 {
			a--
		}
		for b < to && (strings.IndexByte(`/\+#`, text[b]) >= 0 ||
			strings.IndexByte(`:$%_|~@`, text[b]) >= 0 && text[b] == text[a]) {
			b++
		}
		return append(out, textWord{[2]int{a, b}, true})
	}
	return append(out, textWord{[2]int{a, b}, false})
}

// signed reports whether what directly surrounds a word makes a name of it: @name, #topic, .file,
// /folder, :name:, C++.
func signed(before, after string) bool {
	first, last := firstRune(after), lastRune(before)
	return before == "." || last == '@' || last == '#' || last == '/' || last == '\\' ||
		strings.HasPrefix(after, "+") || first == '#' || first == '/' || first == '\\' ||
		before != "" && first == last && strings.ContainsRune(":%_$|~", first)
}

// titles are abbreviations before names, and numbered those before numbers.
var (
	titles   = setOf("Capt Col Fr Ft Gen Gov Hon Lt Maj Messrs Mt Rep Rev Sen Sgt")
	numbered = setOf("apr art aug ch chap dec eq feb fig jan jul jun mar no nos nov nr oct p par pp " +
		"sec sep sept vol")
	closed = setOf("al approx bros co corp dept est ft hr hrs inc lb lbs ltd oz yr yrs")
	// inner never end a sentence.
	inner = setOf("a.k.a e.g i.e vs")
)

var setOf = truecase.Set

// isAbbreviation reports whether a word of letters is an abbreviation, going by what follows it.
func isAbbreviation(word, after string) bool {
	if !isLetters(word) || !strings.HasPrefix(after, ".") ||
		utf8.RuneCountInString(word) < 2 && !numbered[word] {
		return false
	}
	next := firstRune(strings.TrimLeftFunc(after[1:], unicode.IsSpace))
	lower := strings.ToLower(word)
	return truecase.Abbreviation(word) || closed[lower] || titles[word] && unicode.IsUpper(next) ||
		len(after) > 1 && strings.IndexByte(",;:", after[1]) >= 0 ||
		numbered[lower] && unicode.IsDigit(next)
}

// isInitial reports whether a letter before a stop stands for a name.
func isInitial(letter, after string) bool {
	if utf8.RuneCountInString(letter) != 1 || !unicode.IsUpper(firstRune(letter)) {
		return false
	}
	return !endsSentence(letter, after)
}

// stop is the length of the stop of an abbreviation, 0 where it ends the sentence as well: a blank
// in its place would leave the sentence without an end.
func stop(word, after string) int {
	if !strings.HasPrefix(after, ".") || endsSentence(word, after[1:]) {
		return 0
	}
	return 1
}

// endsSentence reports whether a sentence ends with an abbreviation, by what follows its stop.
func endsSentence(word, after string) bool {
	rest := strings.TrimLeft(after, "\"')]}”’»")
	next := strings.TrimLeftFunc(rest, unicode.IsSpace)
	switch {
	case next == "":
		return true
	case next == rest || !unicode.IsUpper(firstRune(next)) || inner[strings.ToLower(word)]:
		return false
	}
	next = LettersAfter(next)
	if unicode.IsUpper(firstRune(word)) { // U.S. Army
		return len(next) > 1 && isFunctionWord(next)
	}
	e, known := truecase.Lookup(strings.ToLower(next)) // 9 a.m. Monday
	return !known || e.Lower
}

// isAside reports whether a word is an abbreviation such as "a.m." and "e.g.", in lower case, which
// has no content.
func isAside(word string) bool {
	return strings.Contains(word, ".") && abbreviation.MatchString(strings.TrimSuffix(word, ".")) &&
		strings.ToLower(word) == word
}
