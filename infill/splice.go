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
	// CaseAuto capitalises a word at the start of a sentence and the English
	// pronoun I, unless the text around is itself written in lower case
	// (caseless corpora are). The capitals of names are unknown to such models.
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
		if capital {
			after := t.text[bl.End:]
			if i+1 < len(t.blanks) && t.blanks[i+1].Start == bl.End {
				after = words[i+1]
			}
			if english(tok) {
				word = pronouns(word, b.String(), after)
			}
			if startsSentence(b.String()) {
				word = capitalise(word)
			}
		}
		start := b.Len()
		b.WriteString(word)
		spans[i] = [2]int{start, b.Len()}
	}
	b.WriteString(t.text[last:])
	return b.String(), spans
}

// pronouns writes a capital I for every word i of a filling. before and after
// are what stands around the filling. "i.e." and "i-" are left alone.
func pronouns(filling, before, after string) string {
	text := before + filling + after
	out := []byte(filling)
	for k, c := range out {
		at := len(before) + k
		last, next := lastRune(text[:at]), firstRune(text[at+1:])
		part := func(r rune) bool { return isLetterOrDigit(r) || r == '-' || r == '_' }
		if c != 'i' || at > 0 && (part(last) || last == '.') || at+1 < len(text) && part(next) {
			continue
		}
		if next == '.' && isLetterOrDigit(firstRune(text[at+2:])) {
			continue
		}
		out[k] = 'I'
	}
	return string(out)
}

// english reports whether a vocabulary is that of an English model. In other
// languages i is a word of its own: "the" in Italian, "and" in Polish. The ids
// of a vocabulary go by how frequent its pieces are.
func english(tok *tokenize.Tokenizer) bool {
	the, ok := tok.ID("the")
	if !ok || tok.VocabSize() > maxEnglish {
		return false
	}
	for _, w := range []string{"la", "de", "di", "der", "het", "na", "och", "że"} {
		if id, ok := tok.ID(w); ok && id < the {
			return false
		}
	}
	return true
}

// maxEnglish is more pieces than a vocabulary for one language has; that of
// uncased multilingual BERT has 105,879.
const maxEnglish = 80_000

func capitalise(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToTitle(r)) + s[n:]
}

// startsSentence reports whether a sentence starts after the text before: at the
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

// abbreviation reports whether the word before a full stop is one after which
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

// writtenLower reports whether the author of a text writes sentences in lower
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
