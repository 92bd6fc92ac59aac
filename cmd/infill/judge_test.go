package main

import (
	"path/filepath"
	"strings"
	"testing"
)

const gpt2 = "../../metrics/judge/testdata/gpt2"

// A judge that filled the texts itself is named in a warning, by the records or by the manifest of a
// table, and another is not.
func TestJudgeFilled(t *testing.T) {
	t.Parallel()
	const says = "the judge is the model that filled"
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.txt"), "the [MASK] sleeps .\nthe old [MASK] saw the fish .\n")
	for _, name := range []string{"out.jsonl", "out.csv"} {
		out := filepath.Join(dir, name)
		if r := infillRun("", withTiny("batch", in, "-o", out, "--quiet")...); r.code != 0 {
			t.Fatal(r.err)
		}
		if r := infillRun("", "eval", out, "--judge", tinyModel); r.code != 0 ||
			!strings.Contains(r.out, says) || !strings.Contains(r.out, "pseudo-perplexity by the judge") {
			t.Errorf("%s: exit %d: %s%s", name, r.code, r.out, r.err)
		}
		if r := infillRun("", "eval", out, "--judge", gpt2); r.code != 0 ||
			strings.Contains(r.out, says) || !strings.Contains(r.out, "\nperplexity by the judge") {
			t.Errorf("%s: exit %d: %s%s", name, r.code, r.out, r.err)
		}
	}
	for judge, filled := range map[string]bool{tinyModel: true, gpt2: false} {
		r := infillRun("", withTiny("compare", in, "--samplers", "gibbs", "--steps", "2", "--quiet",
			"--judge", judge)...)
		if r.code != 0 || strings.Contains(r.out, says) != filled ||
			!strings.Contains(r.out, "perplexity by the judge") {
			t.Errorf("compare, %s: exit %d: %s%s", judge, r.code, r.out, r.err)
		}
	}
	if r := infillRun("", "eval", in, "--judge", filepath.Join(dir, "none")); r.code == 0 ||
		!strings.Contains(r.err, "--judge") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
