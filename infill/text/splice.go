package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"infill/internal/truecase"
	"infill/tokenize"
)

// Splice writes words into the blanks, one per blank. It returns
// the text and the byte span in it of every blank's words. Nothing outside the
// blanks changes. asGiven are blanks whose words have the capitals that their author gave them.
//
// Words that the model has in lower case get the capitals that they have in the text around: at
// the start of sentences, and all in capitals where the text is. Words of English vocabularies also
// have the capitals of running English text, such as France, October, Mr, DNA and I, but where the
// text is of another language. What stands beside a word decides where it may be a name or none, as
// may and us. A text that is itself written in lower case (caseless corpora are) stays so, and so
// does a list of words in which any word has a capital. A word in the place of one that was masked
// is written as that was, of a model that knows capitals too: in lower case, with a first capital,
// or all in capitals.
func (t *Template) Splice(words []string, asGiven ...int) (string, [][2]int) {
	tok := t.Tok
	small, masked := writtenLower(t), t.Masked != nil
	if !tok.Lowercase() && !masked || small && !masked {
		return t.Write(words)
	}
	words = slices.Clone(words)
	free := func(i int) bool { return !slices.Contains(asGiven, i) }
	for i := range words {
		if masked && free(i) && (small || caseOf(t.Masked[i]) == lowerCase && !tok.Lowercase() &&
			truecase.StartsSentence(t.Text[:t.Blanks[i].Start])) {
			words[i] = strings.ToLower(words[i]) // a model with capitals guesses them
		}
	}
	names := !small && english(tok) && languageOf(t.outside()) == nil
	switch {
	case small:
		return t.Write(words)
	case !masked && writtenUpper(t):
		for i := range words {
			if free(i) {
				words[i] = upper(words[i])
			}
		}
		return t.Write(words)
	case names:
		words = cased(t, words, asGiven)
	}
	whole, at := t.Write(words)
	title := names && writtenTitle(t)
	blank := -1
	return t.write(words, func(word, before string) string {
		blank++
		starts := truecase.Starts(before+whole[at[blank][0]:], len(before))
		if masked && free(blank) {
			switch caseOf(t.Masked[blank]) {
			case upperCase:
				return upper(word)
			case titleCase:
				starts = starts || !isFunctionWord(word)
			case lowerCase:
				return word
			}
		}
		titled := title || names && quotesTitle(whole, at, blank)
		if starts || titled && !smallInTitles[word] && free(blank) && standsApart(before) {
			word = capitalise(word)
		}
		return word
	})
}

// Write is Splice with the words as they are.
func (t *Template) Write(words []string) (string, [][2]int) { return t.write(words, nil) }

// write puts words into the blanks. spell, if not nil, may change a word. It is called in the order
// of the text, with the text before the word.
func (t *Template) write(words []string,
	spell func(word, before string) string) (string, [][2]int) {
	var b strings.Builder
	spans := make([][2]int, len(t.Blanks))
	last := 0
	for i, bl := range t.Blanks {
		b.WriteString(t.Text[last:bl.Start])
		last = bl.End
		word := words[i]
		if spell != nil {
			word = spell(word, b.String())
		}
		start := b.Len()
		b.WriteString(word)
		spans[i] = [2]int{start, b.Len()}
	}
	b.WriteString(t.Text[last:])
	return b.String(), spans
}

// cased gives words the capitals of English text, but for those of the blanks asGiven.
func cased(t *Template, words []string, asGiven []int) []string {
	text, spans := t.Write(words)
	var filled [][2]int
	for i, s := range spans {
		if !slices.Contains(asGiven, i) && !address(text, s) {
			filled = append(filled, s)
		}
	}
	text = truecase.Restore(text, filled)
	out := make([]string, len(words))
	for i, s := range spans {
		out[i] = text[s[0]:s[1]]
	}
	return out
}

// address reports whether a span of a text is part of an address of e-mail, of a site or a file.
func address(text string, span [2]int) bool {
	before, after := text[:span[0]], text[span[1]:]
	before = before[len(strings.TrimRightFunc(before, func(r rune) bool {
		return !unicode.IsSpace(r) && !strings.ContainsRune("\"“”()<>", r)
	})):]
	return strings.Contains(before, "@") || strings.HasPrefix(after, "@") ||
		strings.Contains(before, "://") || strings.HasPrefix(strings.ToLower(before), "www.") ||
		strings.HasPrefix(before, "/") || strings.HasPrefix(before, "~/")
}

// english reports whether a vocabulary belongs to an English model. In other
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

// capitalise gives the first letter its capital.
func capitalise(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return upper(s[:n]) + s[n:]
}

// upper writes letters as capitals, but for those that lower case does not give back, such as the
// Turkish i without a dot: the model would read another word.
func upper(s string) string {
	return strings.Map(func(r rune) rune {
		if up := unicode.ToTitle(r); unicode.ToLower(up) == r {
			return up
		}
		return r
	}, s)
}
