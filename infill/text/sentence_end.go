package text

import (
	"slices"
	"strings"
	"unicode"

	"infill/internal/truecase"
)

// WithEnd is the template as a model sees it with a full stop behind the text, which is not part of
// it. The model then guesses the words of a whole sentence. It is t itself where the text does not
// end in running words without an end mark, as titles, items of lists and questions do not.
func (t *Template) WithEnd() *Template {
	const stop = "."
	if !t.lacksEnd() {
		return t
	}
	if id, ok := t.Tok.ID(stop); !ok || id == t.Tok.UNKID() {
		return t
	}
	out, err := newTemplate(t.Tok, End(t.Text, stop), slices.Clone(t.Blanks))
	if err != nil {
		return t // it cannot be shown
	}
	out.Text, out.Masked, out.Shown, out.Window = t.Text, t.Masked, stop, t.Window
	return out
}

// End is a text with an end mark, before white space at its end.
func End(text, mark string) string {
	n := len(strings.TrimRightFunc(text, unicode.IsSpace))
	return text[:n] + mark + text[n:]
}

// leastEnded is how many words, blanks among them, a sentence without an end mark has at least.
const leastEnded = 3

// lacksEnd reports whether a text ends in running words without an end mark. Its last sentence, or
// line, begins as statements do. It has a verb or a subject, as titles and items hardly do.
func (t *Template) lacksEnd() bool {
	n, trimmed := len(t.Blanks), strings.TrimRightFunc(t.Text, unicode.IsSpace)
	if t.Blanks[n-1].End < len(trimmed) && !isLetterOrDigit(lastRune(trimmed)) || writtenTitle(t) {
		return false
	}
	var words []string // "" for a blank
	from, line := 0, strings.LastIndexByte(trimmed, '\n')+1
	for i, part := range t.outside() {
		for a, b := range truecase.Words(part) {
			if truecase.StartsSentence(t.Text[line:max(line, from+a)]) {
				words = nil
			}
			words = append(words, part[a:b])
		}
		if i < n {
			if truecase.StartsSentence(t.Text[line:max(line, t.Blanks[i].Start)]) {
				words = nil
			}
			words, from = append(words, ""), t.Blanks[i].End
		}
	}
	return len(words) >= leastEnded && runs(words)
}

// runs reports whether words make a statement.
func runs(words []string) bool {
	first := strings.ToLower(words[0])
	if asking[first] || heading[first] {
		return false
	}
	capitals, plain, evidence := 0, 0, false
	for i, w := range words {
		lower := strings.ToLower(w)
		evidence = evidence || finite[lower] || i+1 < len(words) && subject[lower]
		switch r := firstRune(w); {
		case i == 0 || w == "" || w == "I":
		case unicode.IsUpper(r) && !isName(w):
			capitals++
		case unicode.IsLower(r) && !smallInTitles[w]:
			plain++
		}
	}
	return evidence && capitals <= plain
}

var (
	// asking are words that begin questions, and heading those that begin headings, items and
	// parts of sentences.
	asking = setOf("am are can could did do does had has have how is may might shall should was " +
		"were what when where which who whom whose why will would")
	heading = setOf("although as because how if since though unless until when where while why")
	// finite are verbs that have a subject: no infinitives, and no forms that stand for participles.
	finite = setOf("am are aren became began came can cannot could couldn did didn does doesn drank " +
		"drove fell felt flew gave goes got grew had hadn has hasn hates is isn knew likes lives loves " +
		"met might must ran rose said sang sat saw says shall should slept spoke stood swam taught " +
		"thinks threw told took wanted wants was wasn went were weren will won woke wore would wouldn " +
		"wrote")
	// subject are pronouns that are nothing but subjects.
	subject = setOf("he i she they we")
)
