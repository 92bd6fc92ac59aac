package main

import (
	"strings"
	"testing"
)

// A note has the first filling that a full stop behind the text leads to, where it is another one.
func TestEndNote(t *testing.T) {
	t.Parallel()
	sentence := func(line string) string { // behind the score, maybe with a share
		_, s, _ := strings.Cut(strings.TrimSpace(line), "%")
		if s == "" {
			_, s, _ = strings.Cut(strings.TrimSpace(line), " ")
		}
		return strings.TrimSpace(s)
	}
	const note = "infill: with a full stop behind it the first is "
	said := 0
	for _, text := range []string{
		"My favorite food is [MASK]", "She was born in the [MASK] of the [MASK]",
		"He said that it was a [MASK]", "I think we should [MASK] it",
	} {
		ended := infillRun("", "fill", "--quiet", "--model", "small", "--top", "1", "--effort", "quick",
			"--end-mark", "auto", text)
		r := infillRun("", "fill", "--model", "small", "--top", "1", text)
		first, other := sentence(r.out), sentence(ended.out)
		_, after, is := strings.Cut(r.err, note)
		if is != (first != other) || is && !strings.HasPrefix(after, `"`+other+`"`) {
			t.Errorf("%q, ended %q: %s", first, other, r.err)
		}
		if is {
			said++
		}
		if q := infillRun("", "fill", "--quiet", "--model", "small", "--top", "1", text); q.err != "" {
			t.Errorf("quiet: %s", q.err)
		}
	}
	if said == 0 || said == 4 {
		t.Errorf("%d notes of 4: the test says nothing", said)
	}
	if r := infillRun("", "fill", "--model", "small", "It is [MASK]."); strings.Contains(r.err, note) {
		t.Error(r.err)
	}
}
