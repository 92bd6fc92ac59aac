package text

import (
	"testing"

	"infill/tokenize/tokenizetest"
)

// Plain blanks that stand apart are words. Others stay as they are written, and so does the template.
func TestWithUnit(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	for line, want := range map[string][][4]int{
		"the [MASK] saw ___ .":             {{1, 5, 1, 1}, {1, 5, 1, 1}},
		"the [MASK:a] saw the [MASK:a] .":  {{1, 5, 1, 1}},
		"the [MASK*2] saw a [MASK*1-3w] .": {{2, 2, 0, 0}, {1, 15, 1, 3}},
		"the dog[MASK] saw a [MASK].":      {{1, 1, 0, 0}, {1, 5, 1, 1}},
		"the [MASK|dog] [MASK#] [MASK.]":   {{1, 1, 0, 0}, {1, 1, 0, 0}, {1, 1, 0, 0}},
		"the [MASK]s and [MASK/s$/]":       {{1, 1, 0, 0}, {1, 1, 0, 0}},
	} {
		tm, err := Parse(tok, line)
		if err != nil {
			t.Fatal(err)
		}
		before := tm.Groups[0].Blank
		for g, b := range tm.With(UnitWord).Groups {
			if got := [4]int{b.Min, b.Max, b.MinWords, b.MaxWords}; got != want[g] {
				t.Errorf("%s: group %d is %v, want %v", line, g, got, want[g])
			}
		}
		if after := tm.Groups[0].Blank; after.Max != before.Max || after.MaxWords != before.MaxWords {
			t.Errorf("%s: the template has changed", line)
		}
	}
}

// A phrase is what [MASK*] is, of all but the plain blanks that stand apart.
func TestWithPhrases(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	for plain, spelt := range map[string]string{
		"the [MASK] saw ___ .":            "the [MASK*] saw [MASK*] .",
		"the dog[MASK] saw a [MASK*2] .":  "the dog[MASK] saw a [MASK*2] .",
		"the [MASK|dog] saw [MASK.] ___.": "the [MASK|dog] saw [MASK.] [MASK*].",
	} {
		from, err := Parse(tok, plain)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Parse(tok, spelt)
		if err != nil {
			t.Fatal(err)
		}
		for g, b := range from.With(UnitPhrase).Groups {
			w := want.Groups[g]
			if b.Min != w.Min || b.Max != w.Max || b.Counted != w.Counted || b.MaxWords != w.MaxWords {
				t.Errorf("%s: group %d is %+v, and spelt %+v", plain, g, b.Blank, w.Blank)
			}
		}
		if from.With(UnitPiece) != from {
			t.Errorf("%s: pieces are another template", plain)
		}
	}
}
