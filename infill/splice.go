package infill

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"infill/tokenize"
)

// A Case says how filled words are written when the model knows lower case only.
type Case int

const (
	// CaseAuto capitalises a word at the start of a sentence, unless the text
	// around is itself written in lower case (caseless corpora are).
	CaseAuto Case = iota
	// CaseModel writes the model's tokens as they are.
	CaseModel
)

// splice writes words into the blanks of a template, one per blank. It returns
// the text and the byte span in it of every blank's words. Nothing outside the
// blanks changes.
func splice(t *Template, tok *tokenize.Tokenizer, words []string, c Case) (string, [][2]int) {
	capital := c == CaseAuto && tok.Lowercase() && !writtenLower(t)
	var b strings.Builder
	spans := make([][2]int, len(t.Blanks))
	last := 0
	for i, bl := range t.Blanks {
		b.WriteString(t.Text[last:bl.Start])
		last = bl.End
		word := words[i]
		if capital && startsSentence(b.String()) {
			word = capitalise(word)
		}
		start := b.Len()
		b.WriteString(word)
		spans[i] = [2]int{start, b.Len()}
	}
	b.WriteString(t.Text[last:])
	return b.String(), spans
}

// surface is the spelling of a token inside a text.
func surface(tok *tokenize.Tokenizer, id int32) string {
	s, _ := tok.Surface(id)
	return s
}

// Punctuation that stands without a space before or after it.
const (
	closing = ".,;:!?)]}%'’”…-"
	opening = "([{$'’“-"
)

// join spells the tokens of one blank: pieces go on with the word before them,
// other tokens are set apart by one space, except before closing and after
// opening punctuation and between ideographs. Where the vocabulary marks spaces
// the pieces say it all; the space before the first stands outside the blank.
func join(tok *tokenize.Tokenizer, ids []int32) string {
	var b strings.Builder
	var before rune
	for i, id := range ids {
		s, space := tok.Surface(id)
		if tok.MarksSpaces() {
			if space && i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(s)
			continue
		}
		first, _ := utf8.DecodeRuneInString(s)
		tight := tok.IsContinuation(id) || strings.ContainsRune(closing, first) || strings.ContainsRune(opening, before) ||
			unicode.IsLetter(first) && !isWordRune(first) && unicode.IsLetter(before) && !isWordRune(before)
		if i > 0 && !tight {
			b.WriteByte(' ')
		}
		b.WriteString(s)
		before, _ = utf8.DecodeLastRuneInString(s)
	}
	return b.String()
}

func capitalise(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToTitle(r)) + s[n:]
}

// startsSentence tells whether a sentence starts after the text before: at the
// very start, or after a full stop, exclamation or question mark and white
// space. Opening quotes and brackets do not count.
func startsSentence(before string) bool {
	s := strings.TrimRight(before, "\"'`([{“‘«¿¡")
	trimmed := strings.TrimRightFunc(s, unicode.IsSpace)
	if trimmed == "" {
		return true
	}
	if trimmed == s {
		return false // no white space: "3.[MASK]"
	}
	trimmed = strings.TrimRight(trimmed, "\"')]}”’»")
	r, n := utf8.DecodeLastRuneInString(trimmed)
	switch r {
	case '!', '?', '…':
		return true
	case '.':
		return !abbreviation(trimmed[:len(trimmed)-n])
	}
	return false
}

// abbreviation tells whether the word before a full stop is one after which
// sentences rarely end: a single letter (initials, "e.g.") or a common title.
func abbreviation(before string) bool {
	word := before[strings.LastIndexFunc(before, func(r rune) bool { return !unicode.IsLetter(r) })+1:]
	if utf8.RuneCountInString(word) == 1 && word != "I" {
		return true
	}
	switch strings.ToLower(word) {
	case "mr", "mrs", "ms", "dr", "st", "prof", "vs", "etc", "jr", "sr":
		return true
	}
	return false
}

// writtenLower tells whether the author of a text writes sentences in lower
// case: no capital anywhere outside the blanks, and either a sentence that
// starts with a lower-case letter or punctuation set apart by spaces, the mark
// of tokenized, lower-cased corpora.
func writtenLower(t *Template) bool {
	evidence := false
	last, n := 0, len(t.Blanks)
	for i := 0; i <= n; i++ {
		end := len(t.Text)
		if i < n {
			end = t.Blanks[i].Start
		}
		for j, r := range t.Text[last:end] {
			if unicode.IsUpper(r) {
				return false
			}
			if unicode.IsLower(r) && startsSentence(t.Text[:last+j]) {
				evidence = true
			}
		}
		if i < n {
			last = t.Blanks[i].End
		}
	}
	for _, p := range []string{" .", " ,", " !", " ?", " ;"} {
		if strings.Contains(t.Text, p) {
			evidence = true
		}
	}
	return evidence
}
