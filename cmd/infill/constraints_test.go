package main

import (
	"strings"
	"testing"
)

// What is wrong with a constraint is said, with its place and what to do: in the
// blank the byte, in a file the line, on the command line the flag; where a
// constraint leaves nothing, the blank. Each is an error of the text or the
// flags, exit code 2, but for files that cannot be read.
func TestConstraintErrors(t *testing.T) {
	t.Parallel()
	const text = "the [MASK] sleeps in the [MASK] ."
	file := func(lines string) string { return write(t, "words.txt", lines) }
	for _, c := range []struct {
		name string
		args []string
		code int
		says []string
	}{
		{"tie, no name", []string{"the [MASK:] sleeps ."}, 2, []string{"byte 4", "name"}},
		{"tie, two options", []string{"a [MASK:x|red] and a [MASK:x|big] ."}, 2, []string{"byte 21", "called x"}},
		{"tie, one inside a word", []string{"the [MASK:a|dog] run[MASK:a] ."}, 2, []string{"blank 2", "tied"}},
		{"count of none", []string{"the [MASK*0] sleeps ."}, 2, []string{"byte 4", "from 1 to 32"}},
		{"count too large", []string{"the [MASK*33] sleeps ."}, 2, []string{"from 1 to 32"}},
		{"count backwards", []string{"the [MASK*3-2] sleeps ."}, 2, []string{"count"}},
		{"count without an entry", []string{"the [MASK*3|dog|big dog] sleeps ."}, 2, []string{"blank 1", "loosen the count"}},
		{"list with nothing between", []string{"the [MASK|dog||cat] sleeps ."}, 2, []string{"byte 4", "empty"}},
		{"list not closed", []string{"the [MASK|dog sleeps ."}, 2, []string{"byte 4", "not closed"}},
		{"list that cannot be spelt", []string{"the [MASK|qqq] sleeps ."}, 2, []string{"byte 4", "qqq", "vocabulary"}},
		{"expression not closed", []string{"the [MASK/ing] sleeps ."}, 2, []string{"byte 4", "/]"}},
		{"expression that is none", []string{"the [MASK/(/] sleeps ."}, 2, []string{"byte 4", "RE2"}},
		{"expression without a word", []string{"the [MASK/^zz/] sleeps ."}, 2, []string{"blank 1, [MASK/^zz/]", "loosen"}},
		{"vocabulary unknown", []string{"--vocab", "letters", text}, 2, []string{"vocab", "words|all|whole-words"}},
		{"vocabulary with nothing left", []string{"--vocab", "whole-words", "--ban", "dog", "the [MASK/^dog$/] sleeps ."}, 2, []string{"blank 1", "--ban, --vocab"}},
		{"ban of a word too long", []string{"--ban", "dog," + strings.Repeat("q", 201), text}, 2, []string{"--ban", "200"}},
		{"ban of all", []string{"--ban", "dog", "the [MASK|dog] sleeps ."}, 2, []string{"blank 1", "--ban"}},
		{"allow, no file", []string{"--allow", "no/such/file", text}, 3, []string{"--allow", "no/such/file"}},
		{"allow, a folder", []string{"--allow", t.TempDir(), text}, 3, []string{"--allow"}},
		{"allow, no word", []string{"--allow", file("# nothing\n\n"), text}, 2, []string{"--allow", "words.txt", "one a line"}},
		{"allow, a word of no vocabulary", []string{"--allow", file("dog\nqqq\n"), text}, 2, []string{"words.txt", "line 2", "qqq"}},
		{"allow, a word too long", []string{"--allow", file("dog\n\n" + strings.Repeat("dog ", 60) + "\n"), text}, 2, []string{"line 3", "200"}},
		{"allow, none fits", []string{"--allow", file("dog\ncat\n"), "the [MASK] and the [MASK*2] ."}, 2, []string{"blank 2", "--allow"}},
		{"no repeat, too few words", []string{"--no-repeat", "text", "the [MASK|dog] and the [MASK|dog] ."}, 2, []string{"blank 2", "--no-repeat"}},
		{"distance without masking", []string{"--min-distance", "2", text}, 2, []string{"--min-distance", "--mask-rate"}},
		{"distance too large", []string{"--min-distance", "101", "--mask-words", "1", "the dog sleeps ."}, 2, []string{"min-distance", "0 to 100"}},
		{"distance that nothing keeps", []string{"--min-distance", "90", "--mask-words", "1", "the dog sleeps ."}, 2, []string{"blank 1", "--min-distance"}},
		{"rate above one", []string{"--mask-rate", "1.5", "the dog sleeps ."}, 2, []string{"mask-rate", "0 to 1"}},
		{"rate and number", []string{"--mask-rate", "0.5", "--mask-words", "1", "the dog sleeps ."}, 2, []string{"one of them"}},
		{"more words than there are", []string{"--mask-words", "4", "the dog sleeps ."}, 2, []string{"4 words", "3"}},
		{"masking of blanks", []string{"--mask-words", "1", text}, 2, []string{"byte 4", "without blanks"}},
		{"choice unknown", []string{"--select", "best", text}, 2, []string{"select", "likelihood|diverse"}},
		{"long unknown", []string{"--long", "cut", text}, 2, []string{"long", "window|error"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := infillRun(
				"",
				withTiny(append([]string{"fill", "--steps", "2", "--chains", "2"}, c.args...)...)...)
			if r.code != c.code || r.out != "" {
				t.Errorf("exit %d, want %d: %s%s", r.code, c.code, r.out, r.err)
			}
			for _, s := range c.says {
				if !strings.Contains(r.err, s) {
					t.Errorf("%q is not in: %s", s, r.err)
				}
			}
		})
	}
}

// --no-repeat takes a word, and is about blanks by default.
func TestNoRepeat(t *testing.T) {
	t.Parallel()
	const text = "the dog saw the [MASK|dog|cat] ."
	const two = "the [MASK/^(dog|the)$/] saw the [MASK/^(dog|the)$/] ."
	for _, c := range []struct {
		args  []string
		lines int
		says  string
	}{
		{[]string{"--no-repeat", "text", text}, 1, ""},
		{[]string{"--no-repeat", "blanks", text}, 2, ""},
		{[]string{text}, 2, ""},
		{[]string{"--no-repeat=off", two}, 4, ""},
		{[]string{two}, 3, ""}, // "the the" has no meaning
		{[]string{"the [MASK|dog|cat] saw the [MASK|dog|cat] ."}, 4, ""},
		{[]string{"--no-repeat", "text", "the [MASK|dog|cat] saw the [MASK|dog|cat] ."}, 2, ""},
		{[]string{"the [MASK:a|dog|cat] saw the [MASK:a|dog|cat] ."}, 2, ""},
		{[]string{"the [MASK/^dog$/] saw the [MASK/^dog$/] ."}, 1, "has a word in two blanks"},
	} {
		for _, way := range [][]string{nil, {"--method", "sample", "--steps", "40"}} {
			r := infillRun("", withTiny(append(append([]string{"fill"}, way...), c.args...)...)...)
			if r.code != exitOK || way == nil && strings.Count(r.out, "\n") != c.lines ||
				way != nil && c.lines == 3 && strings.Contains(r.out, "dog saw the dog") ||
				!strings.Contains(r.err, c.says) || c.says == "" && strings.Contains(r.err, "two blanks") {
				t.Errorf("%q, %q: exit %d: %s%s", way, c.args, r.code, r.out, r.err)
			}
		}
	}
}

// A banned word that the model cannot spell is noted, and the run goes on.
func TestBanOfUnspellableWords(t *testing.T) {
	t.Parallel()
	args := withTiny(
		"fill", "--seed", "1", "--steps", "2", "--chains", "2", "--ban", "dog,\U0001f600,qqq",
		"the [MASK] sleeps .",
	)
	r := infillRun("", args...)
	if r.code != exitOK || !strings.Contains(r.err, "cannot spell \U0001f600, qqq,") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if strings.Contains(r.out, "dog") || r.out == "" {
		t.Errorf("the rest of the list does not hold: %s", r.out)
	}
	if quiet := infillRun("", append(args, "--quiet")...); quiet.err != "" || quiet.out != r.out {
		t.Errorf("with --quiet: %s%s", quiet.out, quiet.err)
	}
	if r = infillRun(`{"text":"the [MASK] sleeps .","ban":["qqq","dog"]}`, withTiny("batch", "--seed", "1", "--quiet", "--format", "jsonl", "-")...); r.code != exitOK {
		t.Errorf("a line of a batch: exit %d, %s%s", r.code, r.out, r.err)
	}
}
