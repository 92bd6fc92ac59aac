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

// A word with a meaning counts where two blanks have it, and only there.
func TestTwice(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Small(t)
	for _, c := range []struct {
		text, words string
		want        bool
	}{
		{"The [MASK], sugar and [MASK].", "sugar flour", false}, // sugar is not in two blanks
		{"The [MASK], salt and [MASK].", "sugar Sugar", true},
		{"[MASK] dog and [MASK] cat", "the the", false},
		{"[MASK*2] dog and [MASK] cat", "the+big big", true},
		{"[MASK*2] dog and [MASK] cat", "very+very one", false},
		{"un[MASK] and un[MASK]", "able able", true},
		{"un[MASK] and [MASK]", "able able", false},
		{"[MASK][MASK] and [MASK]", "sun flower moon", false},
		{"[MASK] and [MASK]", "42 42", false},
		{"From [MASK] to [MASK], it grew [MASK] and [MASK].", "day day wider wider", false},
		{"We got better [MASK] by [MASK], and [MASK].", "day day day", true},
		{"The staff were [MASK] and [MASK].", "friendly friendly", true},
		{"The staff, [MASK] by the [MASK], left.", "door door", true},
		{"a[[MASK]] and b[[MASK]]", "i i", false},
		{"[MASK:a] and [MASK:a] or [MASK]", "dog dog cat", false},
		{"[MASK:a] and [MASK:a] or [MASK]", "dog dog dog", true},
		{"[MASK|dog|cat] and [MASK|dog|cat] or [MASK]", "dog dog dog", false},
		{"[MASK|dog|cat] and [MASK] or [MASK]", "cat dog dog", true},
		{"[MASK] Hund und [MASK] Katze sind nicht hier", "der der", false},
		{"[MASK] Hund und [MASK] Katze sind nicht hier", "the the", true},
	} {
		tm, err := Parse(tok, c.text)
		if err != nil {
			t.Fatal(err)
		}
		twice := tm.Twice(nil)
		words := strings.Fields(c.words)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "+", " ")
		}
		filled, spans := tm.Write(words)
		if got := twice != nil && twice(filled, spans); got != c.want {
			t.Errorf("%s: %v, want %v", filled, got, c.want)
		}
	}
}
