package text

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"

	"infill/internal/truecase"
	"infill/tokenize"
)

//go:embed functionwords.txt
var functionWordLines string

// A language is one other than English, with its function words.
type language struct {
	name  string
	words *WordSet
}

// otherLanguages lists the languages of functionwords.txt.
var otherLanguages = sync.OnceValue(func() (out []language) {
	for line := range strings.Lines(functionWordLines) {
		if name, list, ok := strings.Cut(line, ":"); ok {
			words, _ := NewWordSet(strings.Fields(list)) // all have letters
			out = append(out, language{name, words})
		}
	}
	return out
})

// fewFunction is how many different function words are enough to tell a language.
const fewFunction = 2

// languageOf is the foreign language of the parts of a text around its blanks, nil for English and
// in doubt. A language needs more different function words of its own than English has there. Names
// have some, such as Las Vegas and de Gaulle. So those with a capital count where a sentence begins
// only, and particles not before a capital.
func languageOf(parts []string) *language {
	english, before, best := 0, "", 0
	all := otherLanguages()
	found := make([]map[string]bool, len(all))
	for _, part := range parts {
		for a, b := range truecase.Words(part) {
			word := strings.ToLower(part[a:b])
			if isFunctionWord(word) {
				english++
				continue
			}
			for i := range all {
				if !all[i].words.entries[word+"\x00"] || ofName[word] && beforeCapital(part[b:]) ||
					word != part[a:b] && !truecase.StartsSentence(before+part[:a]) {
					continue
				}
				if found[i] == nil {
					found[i] = map[string]bool{}
				}
				if found[i][word] = true; len(found[i]) > len(found[best]) {
					best = i
				}
			}
		}
		before += part + "x" // a word
	}
	if n := len(found[best]); n < fewFunction || n <= english {
		return nil
	}
	return &all[best]
}

// ofName are words in the middle of names.
var ofName = setOf("da das de del della den der di do dos du el la las le los ten ter van von")

func beforeCapital(s string) bool { return unicode.IsUpper(firstRune(strings.TrimSpace(s))) }

// FunctionWords are the given ones. In place of nil they belong to the language of the text around
// the blanks, one of eleven, and to English where that is not told.
func (t *Template) FunctionWords(given *WordSet) *WordSet {
	if given != nil {
		return given
	}
	if l := languageOf(t.outside()); l != nil {
		return l.words
	}
	return englishStops()
}

// unknownLanguage is the language of the parts of a text around its blanks, if the vocabulary is
// not of it: it spells one in four of its function words in pieces. It is "" for other texts.
func unknownLanguage(tok *tokenize.Tokenizer, parts []string) string {
	l := languageOf(parts)
	if l == nil {
		return ""
	}
	pieces := 0
	for w := range l.words.entries {
		enc, err := tok.Pieces(strings.TrimSuffix(w, "\x00"))
		if err == nil && len(enc.IDs) > 1 {
			pieces++
		}
	}
	if 4*pieces < l.words.Len() {
		return ""
	}
	return l.name
}
