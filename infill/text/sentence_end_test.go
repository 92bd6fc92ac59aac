package text

import (
	"slices"
	"testing"

	"infill/tokenize/tokenizetest"
)

// A full stop is shown behind running words, and nowhere else. What the model reads is then what it
// reads of the text with the stop.
func TestWithEnd(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Small(t)
	for line, want := range map[string]bool{
		"My favorite food is [MASK]": true, "my favorite food is [MASK]": true, "I like [MASK]": true,
		"The [MASK] sat on the [MASK]": true, "[MASK] was born in Paris": true, "She [MASK] to school": true,
		"We met in May. She was [MASK]": true, "I know [MASK] and I like [MASK]  ": true,
		"Two lines\nShe was a [MASK]": true, "She was in [MASK] and he was there": true,
		// Sentences that have an end, and parts of some.
		"My favorite food is [MASK].": false, "My favorite food is [MASK]!": false, "It is [MASK] …": false,
		"She was a [MASK],": false, "She said that it was [MASK]:": false, "She was (a [MASK])": false,
		"If it was [MASK]": false, "When she came to [MASK]": false, "She is [MASK]. The [MASK]": false,
		// Questions.
		"What is [MASK]": false, "Is it a [MASK]": false, "Who was [MASK]": false,
		// Titles, headings and items of lists.
		"The Lord of the [MASK]": false, "How to Make the Perfect [MASK]": false, "How it is [MASK]": false,
		"History of the [MASK]": false, "two cups of [MASK]": false, "Fresh [MASK] and milk": false,
		"All You Need Is [MASK]": false, "[MASK]": false, "a [MASK]": false, "Learning to rank with [MASK]": false,
		"She was a [MASK]\nFresh milk": false, "Where the [MASK] Are": false,
	} {
		tm, err := Parse(tok, line)
		if err != nil {
			t.Fatal(err)
		}
		shown := tm.WithEnd()
		if (shown != tm) != want || (shown.Shown == ".") != want {
			t.Errorf("%q: %q is shown", line, shown.Shown)
			continue
		}
		if !want {
			continue
		}
		full, err := Parse(tok, End(line, "."))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(shown.IDs, full.IDs) || !slices.Equal(shown.Positions(), full.Positions()) ||
			shown.Text != line || shown.Window[1] != len(line) || tm.Shown != "" {
			t.Errorf("%q: %v, want %v; %q, window %v", line, shown.IDs, full.IDs, shown.Text, shown.Window)
		}
		if cut, err := shown.Cut(len(shown.IDs)-1, 0); err == nil && cut.Window[1] > len(line) {
			t.Errorf("%q: the window %v", line, cut.Window)
		}
	}
}
