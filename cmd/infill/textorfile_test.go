package main

import (
	"os"
	"strings"
	"testing"
)

// A file where a text is wanted, and a text where a file is, are told of with the command that is
// meant.
func TestTextOrFile(t *testing.T) {
	t.Parallel()
	in, words := write(t, "in.txt", "the dog sleeps .\n"), write(t, "the dog", "the dog sleeps .\n")
	for _, c := range []struct {
		name string
		args []string
		code int
		says string // "" where nothing is said
	}{
		{"score", withTiny("score", in), exitUsage, "a text is expected here; for the texts of the file of " +
			"that name: infill score --file " + in + "\n"},
		{"score, quiet", withTiny("score", "--quiet", in), exitUsage, "infill score --file " + in + "\n"},
		{"score, a text of words", withTiny("score", words), 0, "is taken for a text; for the texts"},
		{"two scores", withTiny("score", in, in), 0, "of the text, in Latin"},
		{"score of a folder", withTiny("score", os.TempDir()), 0, ""},
		{"score of a text", withTiny("score", "the dog sleeps ."), 0, ""},
		{"fill", withTiny("fill", in), exitUsage,
			"; for the texts of the file of that name: infill batch " + in + "\n"},
		{"fill, masked", withTiny("fill", "--mask-words", "1", "--seed", "1", in), exitUsage,
			"the file of that name: infill batch " + in + "\n"},
		{"batch", withTiny("batch", "The [MASK] sat."), exitTrouble,
			"a file is expected here; to fill a text: infill fill 'The [MASK] sat.'\n"},
		{"batch, no blank", withTiny("batch", "The cat sat."), exitTrouble, "infill augment 'The cat sat.'\n"},
		{"eval", []string{"eval", "今天天好。"}, exitTrouble, "a file is expected here"},
		{"compare", withTiny("compare", "The cat sat."), exitTrouble, "a file is expected here"},
		{"cloze", withTiny("cloze", "The cat sat."), exitTrouble, "a file is expected here"},
		{"score", withTiny("score", "--file", "The cat sat."), exitTrouble, "a file is expected here"},
		{"batch, other blank", withTiny("batch", "The ___ sat."), exitTrouble, "infill fill 'The ___"},
	} {
		r := infillRun("", c.args...)
		r.err = strings.Replace(r.err, "score of words: within-word, each piece beside all others but the "+
			"later ones of its word\n", "", 1)
		r.err = strings.Replace(r.err, "score: pll, each piece beside all others\n", "", 1)
		if r.code != c.code || !strings.Contains(r.err, c.says) || c.says == "" && r.err != "" {
			t.Errorf("%s: exit %d: %s", c.name, r.code, r.err)
		}
	}
	r := infillRun("", withTiny("batch", "no-such-file")...)
	if strings.Contains(r.err, "infill fill") {
		t.Errorf("a file without a blank: %s", r.err)
	}
}
