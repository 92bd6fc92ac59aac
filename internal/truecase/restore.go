package truecase

import (
	"slices"
	"strings"
)

// Restore gives the words of some spans of a text their capitals. filled are byte spans in the
// order of the text, and what stands there is in lower case. A word with a capital in them is left
// alone.
// Nothing outside the spans changes, and no length. Of a word that is partly outside, the part
// outside has to agree.
//
// The words at the start of sentences get no capital for that.
func Restore(text string, filled [][2]int) string {
	buf := []byte(text)
	var words []filledWord
	for _, span := range filled {
		for at := wordStart(text, span[0]); at < span[1]; {
			w := filledWord{start: at, end: wordEnd(text, at)}
			if w.end > span[0] && (len(words) == 0 || words[len(words)-1].end < w.end) &&
				w.find(text, filled) {
				words = append(words, w)
			}
			at = nextWord(text, w.end)
		}
	}
	for _, w := range words { // what each has alone, for the one before it to see
		for _, e := range w.entries {
			if !e.Lower {
				w.write(buf, e.Form, filled)
				break
			}
		}
	}
	var contexts []string
	for k := range rounds * len(words) {
		w := &words[k%len(words)]
		if len(w.entries[0].Contexts) == 0 {
			continue
		}
		now := string(buf)
		contexts = contextsOf(contexts[:0], now, w.start, w.end, capital, filled)
		copy(buf[w.start:w.end], text[w.start:w.end])
		for _, e := range w.entries {
			if e.fits(contexts) {
				w.write(buf, e.Form, filled)
				break
			}
		}
	}
	return string(buf)
}

// rounds is how often each word is looked at: "united" depends on "states", which depends on it.
const rounds = 2

// A filledWord is a word of the table that is at least in part of a filling.
type filledWord struct {
	start, end int // bytes of the text
	entries    []Entry
}

// find looks for the word in the tables. It reports whether a form may stand there.
func (w *filledWord) find(text string, filled [][2]int) bool {
	word := text[w.start:w.end]
	lower := strings.ToLower(word)
	if contraction(text, w.start, lower) {
		return false
	}
	w.entries = slices.DeleteFunc(entriesOf(lower), func(e Entry) bool {
		if len(e.Form) != len(word) {
			return true
		}
		for i := range len(word) {
			want := lower[i]
			if !within(filled, w.start+i) {
				want = e.Form[i]
			}
			if word[i] != want {
				return true
			}
		}
		return false
	})
	return len(w.entries) > 0
}

// write writes a form where the word is filled.
func (w *filledWord) write(buf []byte, form string, filled [][2]int) {
	for i := range len(form) {
		if within(filled, w.start+i) {
			buf[w.start+i] = form[i]
		}
	}
}

// within reports whether a byte is in one of the spans.
func within(spans [][2]int, at int) bool {
	return slices.ContainsFunc(spans, func(s [2]int) bool { return s[0] <= at && at < s[1] })
}
