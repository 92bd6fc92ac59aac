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
	spans := make([][2]int, len(t.blanks))
	last := 0
	for i, bl := range t.blanks {
		b.WriteString(t.text[last:bl.Start])
		last = bl.End
		word := words[i]
		if capital && startsSentence(b.String()) {
			word = capitalise(word)
		}
		start := b.Len()
		b.WriteString(word)
		spans[i] = [2]int{start, b.Len()}
	}
	b.WriteString(t.text[last:])
	return b.String(), spans
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
	last, n := 0, len(t.blanks)
	for i := 0; i <= n; i++ {
		end := len(t.text)
		if i < n {
			end = t.blanks[i].Start
		}
		for j, r := range t.text[last:end] {
			if unicode.IsUpper(r) {
				return false
			}
			if unicode.IsLower(r) && startsSentence(t.text[:last+j]) {
				evidence = true
			}
		}
		if i < n {
			last = t.blanks[i].End
		}
	}
	for _, p := range []string{" .", " ,", " !", " ?", " ;"} {
		if strings.Contains(t.text, p) {
			evidence = true
		}
	}
	return evidence
}
