package text

import (
	"strings"
	"testing"

	"infill/tokenize/tokenizetest"
)

// The words of a text that have a meaning, as a reader lists them.
func TestMeant(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Small(t)
	for _, c := range []struct{ text, words string }{
		{"Roses are [MASK], and sugar is [MASK].", "roses sugar"},
		{"The [MASK] of the [MASK] isn't there.", ""},
		{"Ann's café is un[MASK] [MASK]ly 3 times.", "ann café cafe times"},
		{"walk[MASK]ing[MASK] dogs", "dogs"}, // "ing" is between two blanks of one word
		{"In the New-York Times: [MASK]", "new york times"},
	} {
		tm, err := Parse(tok, c.text)
		if err != nil {
			t.Fatal(err)
		}
		has, key := tm.Meant(nil)
		if (has == nil) != (c.words == "") || len(strings.Fields(key)) != len(strings.Fields(c.words)) {
			t.Errorf("%s: %q, want %q", c.text, key, c.words)
			continue
		}
		for _, w := range strings.Fields(c.words) {
			if !has(strings.ToUpper(w)) || !has("the "+w) || has(w+"x") {
				t.Errorf("%s: %q is not among %q", c.text, w, key)
			}
		}
	}
}
