package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
)

// takeColumns are the flags whose values are names of columns or fields, with the rest of a command
// line that reads FILE with them.
var takeColumns = map[string][]string{
	"text-field": {
		"score --file FILE --text-field nosuch", "batch FILE --text-field nosuch --seed 1",
		"augment FILE --text-field nosuch --seed 1", "eval FILE --text-field nosuch",
		"cloze FILE --text-field nosuch --seed 1",
	},
	"sentence": {
		"score --file FILE --text-field good --sentence nosuch",
		"score --file FILE --text-field good --sentence bad,nosuch",
	},
	"pairs": {"score FILE --pairs good,nosuch", "score FILE --pairs nosuch,bad"},
	"keep-by-label": {
		"augment FILE --text-field good --keep-by-label nosuch --seed 1"},
	"by": {"score FILE --pairs good,bad --by nosuch"},
}

// A column or a field that the input does not have is an error which names it, the flag, and the
// columns that exist.
func TestUnknownColumns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := []string{
		put(t, filepath.Join(dir, "a.csv"), "good,bad,kind\nthe cat sleeps .,the cat sleep .,x\n"),
		put(t, filepath.Join(dir, "a.tsv"), "good\tbad\tkind\nthe cat sleeps .\tthe cat sleep .\tx\n"),
		put(t, filepath.Join(dir, "a.jsonl"),
			`{"good":"the cat sleeps .","bad":"the cat sleep .","kind":"x"}`+"\n"),
	}
	for flag, lines := range takeColumns {
		for _, line := range lines {
			for _, file := range files {
				args := strings.Fields(strings.Replace(line, "FILE", file, 1))
				if args[0] != "eval" { // which has no model
					args = withTiny(args...)
				}
				r := infillRun("", args...)
				for _, says := range []string{`"nosuch"`, `"good", "bad", "kind"`, "--" + flag} {
					if r.code == 0 || !strings.Contains(r.err, says) {
						t.Errorf("%q: exit %d without %s: %s", args, r.code, says, r.err)
					}
				}
			}
		}
	}
	// Help says of no other flag that it takes one.
	names := regexp.MustCompile(`\b(columns?|fields?)\b`)
	mention := []string{"mask-class", "max-errors"}
	cmdline.Each(newRoot(console.IO{}), func(c *cli.Command) {
		for _, o := range optionsOf(c) {
			if takeColumns[o.Name] == nil && names.MatchString(o.Usage) && !slices.Contains(mention, o.Name) {
				t.Errorf("%s --%s: %s: does it take a column? Try it above", c.HelpName, o.Name, o.Usage)
			}
		}
	})
}
