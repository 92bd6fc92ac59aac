package text

import (
	"errors"
	"infill/tokenize/tokenizetest"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func TestBlankGrammar(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	for _, c := range []struct {
		text string
		want Blank
	}{
		{"[MASK]", Blank{Min: 1, Max: 1}},
		{"____", Blank{Min: 1, Max: 1}},
		{"[MASK:a]", Blank{Name: "a", Min: 1, Max: 1}},
		{"[MASK*3]", Blank{Min: 3, Max: 3, Counted: true}},
		{"[MASK.]", Blank{Min: 1, Max: 1, Punctuation: true}},
		{"[MASK#]", Blank{Min: 1, Max: 1, Number: true}},
		{"[MASK:a*2.]", Blank{Name: "a", Min: 2, Max: 2, Counted: true, Punctuation: true}},
		{"[MASK*1-3]", Blank{Min: 1, Max: 3, Counted: true}},
		{"[MASK*]", Blank{Min: 1, Max: 8, Counted: true}},
		{"[MASK*/s$/]", Blank{Min: 1, Max: 8, Counted: true, Pattern: regexp.MustCompile("s$")}},
		{"[MASK*w]", Blank{Min: 1, Max: 5, Counted: true, MinWords: 1, MaxWords: 1}},
		{"[MASK:a*2w.]", Blank{Name: "a", Min: 2, Max: 10, Counted: true, MinWords: 2, MaxWords: 2,
			Punctuation: true}},
		{"[MASK*1-3w]", Blank{Min: 1, Max: 15, Counted: true, MinWords: 1, MaxWords: 3}},
		{"[MASK*4-9w]", Blank{Min: 4, Max: 32, Counted: true, MinWords: 4, MaxWords: 9}},
		{"[MASK*2-2]", Blank{Min: 2, Max: 2, Counted: true}},
		{"[MASK|red]", Blank{Min: 1, Max: 1, Words: []string{"red"}}},
		{"[MASK|red| big dog |a\\]b\\|c\\\\]", Blank{Min: 1, Max: 1, Words: []string{"red", "big dog", "a]b|c\\"}}},
		{"[MASK/^[a-z]+ing$/]", Blank{Min: 1, Max: 1, Pattern: regexp.MustCompile("^[a-z]+ing$")}},
		{"[MASK/a\\/b[]/\\]]/]", Blank{Min: 1, Max: 1, Pattern: regexp.MustCompile(`a/b[]/\]]`)}},
		{"[MASK:x-1*1-2/s$/]", Blank{Name: "x-1", Min: 1, Max: 2, Counted: true, Pattern: regexp.MustCompile("s$")}},
		{"[MASK:n*2|big dog|dogs]", Blank{Name: "n", Min: 2, Max: 2, Counted: true, Words: []string{"big dog", "dogs"}}},
	} {
		tm, err := Parse(tok, "the "+c.text+" .")
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		c.want.Start, c.want.End, c.want.Pos = 4, 4+len(c.text), 2
		if len(tm.Blanks) != 1 || !reflect.DeepEqual(tm.Blanks[0], c.want) {
			t.Errorf("%s: %+v", c.text, tm.Blanks)
		}
	}
	// What only looks like a blank is text.
	if _, err := Parse(tok, "the [MASKED] __ [MASK-1] ."); !errors.Is(err, ErrNoBlank) {
		t.Errorf("%v", err)
	}
}

func TestBlankErrors(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	for text, says := range map[string]string{
		"the [MASK:] .":                     "name",
		"the [MASK:a b] .":                  "order",
		"the [MASK:c?t] .":                  "such as [MASK/^c.t$/]",
		"the [MASK*ing] .":                  "such as [MASK/^.*ing$/]",
		"the [MASK*0] .":                    "count",
		"the [MASK*0w] .":                   "count",
		"the [MASK*3-2w] .":                 "count",
		"the [MASK*x] .":                    "count",
		"the [MASK*2ww] .":                  "order",
		"the [MASK*33w] .":                  "from 1 to 32",
		"the [MASK*3-1] .":                  "count",
		"the [MASK*-1] .":                   "count",
		"the [MASK*1-] .":                   "count",
		"the [MASK*33] .":                   "from 1 to 32",
		"the [MASK*99999999999999999999] .": "count",
		"the [MASK*2:a] .":                  "order",
		"the [MASK:a:b] .":                  "once",
		"the [MASK*2*2] .":                  "once",
		"the [MASK..] .":                    "once",
		"the [MASK#.] .":                    "order",
		"the [MASK#*2] .":                   "order",
		"the [MASK:a#] [MASK:a|red]":        "called a",
		"the [MASK.|a] .":                   "order",
		"the [MASK.*2] .":                   "order",
		"the [MASK||] .":                    "empty",
		"the [MASK|red|] .":                 "empty",
		"the [MASK|red":                     "not closed",
		"the [MASK:a":                       "not closed",
		"the [MASK|red\\":                   "not closed",
		"the [MASK/ab] .":                   "end it with /]",
		"the [MASK//] .":                    "bytes",
		"the [MASK/(/] .":                   "RE2",
		"the [MASK/a{1001}/] .":             "RE2",
		"the [MASK/s/|red] .":               "end it with /]",
		"the [MASK/" + strings.Repeat("a", 1001) + "/]": "bytes",
		"the [MASK:a*2] [MASK:a*3]":                     "called a",
		"the [MASK:a|red] [MASK:a|blue]":                "called a",
	} {
		_, err := Parse(tok, text)
		var te *Error
		if !errors.Is(err, ErrBlank) || !errors.As(err, &te) || te.Offset < 4 ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want %q", text, err, says)
		}
	}
}
