package truecase

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// contextsOf appends to dst what stands beside the word text[a:b], in the spelling of the table:
//
//	<in      the word before is "in"
//	>Smith   the word after is "Smith"
//	<~X      the word before has a capital, ~x: none, ~0: begins with a digit, ~$: there is none
//	>~X      the same of the word after
//	<~X>~x   both
//	<~T      the word before is a town that has a team, or "the" before a team that plays
//	<=house  the word before is "house" in any spelling, and was filled in too
//
// A number has no other context than ~0. Punctuation between the two words stands after < or >:
// "<-~X" for a hyphen. Quotes and the ends of clauses hide what is beyond. capital reports whether
// a word in lower case has a capital usually. It judges the first words of sentences. filled are
// spans of the text. A word in them may have its capitals because of the one that is judged, so it
// proves little.
func contextsOf(dst []string, text string, a, b int, capital func(string) bool,
	filled [][2]int) []string {
	open := func(start int, word string) bool {
		return within(filled, start) && !capital(strings.ToLower(word))
	}
	var left, right string
	if !StartsSentence(text[:a]) {
		end := len(strings.TrimRightFunc(text[:a], outsideWords))
		start := wordStart(text, end)
		if mark, ok := between(text[end:a]); ok {
			word := text[start:end]
			lower := strings.ToLower(word)
			if StartsSentence(text[:start]) && !capital(lower) {
				word = lower
			}
			left = "<" + mark + "~" + shapeOf(word)
			dst = named(append(dst, left), "<"+mark, word, open(start, word))
			if mark == "" && (towns[word] || lower == "the" && plays(text, a, b)) {
				dst = append(dst, "<~T")
			}
		}
	}
	start := nextWord(text, b)
	if mark, ok := between(text[b:start]); ok {
		word := text[start:wordEnd(text, start)]
		if word == "I" {
			word = "i" // no name is beside it
		}
		right = ">" + mark + "~" + shapeOf(word)
		dst = named(append(dst, right), ">"+mark, word, open(start, word))
	}
	if left != "" && right != "" {
		dst = append(dst, left+right)
	}
	return dst
}

// named appends the contexts that name a word. An open one may be spelt in two ways.
func named(dst []string, side, word string, open bool) []string {
	if s := shapeOf(word); s != "x" && s != "X" {
		return dst
	}
	dst = append(dst, side+word)
	if open {
		dst = append(dst, side+"="+strings.ToLower(word))
	}
	return dst
}

// between is the punctuation between two words, without spaces: at most two marks. It is not ok
// where a quote or the end of a clause stands.
func between(s string) (mark string, ok bool) {
	var marks []rune
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) || r == '@': // corpora write "built @-@ in"
			continue
		case strings.ContainsRune("\"“”„«»`?!;:…<>~=", r):
			return "", false
		case r == '’' || r == '‘':
			r = '\''
		case r == '–' || r == '—':
			r = '-'
		}
		if len(marks) < 2 {
			marks = append(marks, r)
		}
	}
	return string(marks), true
}

// shapeOf is the shape of a word, see Contexts.
func shapeOf(word string) string {
	first, _ := utf8.DecodeRuneInString(word)
	switch {
	case word == "":
		return "$"
	case unicode.IsDigit(first):
		return "0"
	case strings.ContainsFunc(word, unicode.IsUpper):
		return "X"
	}
	return "x"
}

// contraction reports whether a word in lower case is what an apostrophe leaves of another: 's.
func contraction(text string, a int, word string) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:a])
	return (r == '\'' || r == '’') &&
		slices.Contains([]string{"s", "t", "d", "m", "ll", "re", "ve"}, word)
}
