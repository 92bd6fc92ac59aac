package truecase

import "strings"

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
		if !w.entry.Lower {
			w.write(buf, filled)
		}
	}
	var contexts []string
	for k := range rounds * len(words) {
		w := &words[k%len(words)]
		if len(w.entry.Contexts) == 0 {
			continue
		}
		now := string(buf)
		contexts = contextsOf(contexts[:0], now, w.start, w.end, capital, filled)
		if w.entry.fits(contexts) {
			w.write(buf, filled)
		} else {
			copy(buf[w.start:w.end], text[w.start:w.end])
		}
	}
	return string(buf)
}

// rounds is how often each word is looked at: "united" depends on "states", which depends on it.
const rounds = 2

// A filledWord is a word of the table that is at least in part of a filling.
type filledWord struct {
	start, end int // bytes of the text
	entry      Entry
}

// find looks for the word in the table. It reports whether the form may stand there.
func (w *filledWord) find(text string, filled [][2]int) bool {
	word := text[w.start:w.end]
	lower := strings.ToLower(word)
	if contraction(text, w.start, lower) {
		return false
	}
	var ok bool
	if w.entry, ok = Lookup(lower); !ok || len(w.entry.Form) != len(word) {
		return false
	}
	for i := range len(word) {
		want := lower[i]
		if !within(filled, w.start+i) {
			want = w.entry.Form[i]
		}
		if word[i] != want {
			return false
		}
	}
	return true
}

// write writes the form where the word is filled.
func (w *filledWord) write(buf []byte, filled [][2]int) {
	for i := range len(w.entry.Form) {
		if within(filled, w.start+i) {
			buf[w.start+i] = w.entry.Form[i]
		}
	}
}

// within reports whether a byte is in one of the spans.
func within(spans [][2]int, at int) bool {
	for _, s := range spans {
		if s[0] <= at && at < s[1] {
			return true
		}
	}
	return false
}
