package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// One thing is counted in the singular.
func TestOneIsSingular(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string { return put(t, filepath.Join(dir, name), text) }
	one := file("one.txt", "the dog sleeps .\n")
	empty := file("two.txt", "the dog sleeps .\n\n")
	failing := file("failing.txt", "no blank here\nthe [MASK] sleeps .\n")
	report := filepath.Join(dir, "report.md")
	blank := file("in.txt", "the [MASK] sleeps .\n")
	for _, c := range []struct {
		args []string
		says string
	}{
		{withTiny("fill", "--chains", "1", "--steps", "1", "--seed", "1", "the [MASK] runs ."),
			": 1 chain × 1 step in "},
		{withTiny("batch", failing, "--seed", "1"), "2 records, 1 of them an error;"},
		{withTiny("compare", blank, "--samplers", "rows", "--chains", "1", "--steps", "1", "--top", "1",
			"--seed", "1", "--markdown", report, "--quiet"),
			"1 chain × 2 model evaluations (1 step of one, and the start)"},
		{[]string{"eval", empty, "--reference", empty, "--sample", "1"},
			"1 sentence from " + empty + ", 1 blank line dropped"},
		{[]string{"eval", empty}, "1 of 2 sentences is blank; it counts as an empty generation"},
		{[]string{"eval", empty, "--sample", "1"}, "at most 1 sentence ("},
		{[]string{"eval", one, "--sample", "5"}, "a sample of 5 was asked for, there is only 1 sentence"},
		{[]string{"eval", file("blank.txt", "\n")}, "1 record, 0 failed, 1 blank line\n"},
		{[]string{"model", "save", "small"}, "got 1 argument\n"},
		{withTiny("score", "--file", one, "a dog"), "--file and 1 input: give one of them"},
	} {
		r := infillRun("", c.args...)
		if !strings.Contains(r.out+r.err, c.says) {
			t.Errorf("%q: exit %d, want %q\n%s%s", c.args, r.code, c.says, r.out, r.err)
		}
	}
	if s := roughly(25 * time.Hour); s != "1 day 1 h" {
		t.Error(s)
	}
	if s := refusals(1, "broke"); s != "1 proposal or neighbour broke and was refused" {
		t.Error(s)
	}
}
