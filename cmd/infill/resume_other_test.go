package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var anyHash = regexp.MustCompile("sha256:[0-9a-f]{64}")

// A run that goes on with other flags than the first is told which of them differ, and not what
// follows from them.
func TestResumeNamesWhatDiffers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.txt"), "the [MASK] sleeps .\nthe [MASK] runs .\n")
	words := put(t, filepath.Join(dir, "words.txt"), "dog\ncat\n")
	const hash = "sha256:*"
	for _, c := range []struct{ first, then, says string }{
		{"--chains 4", "", "--chains was 4, is 25"},
		{"--chains 4 --temperature 0.5", "", "--chains was 4, is 25; --temperature was 0.5, is 1"},
		{"--sampler gibbs", "", "--sampler was gibbs, is rows"},
		{"--marginals", "", "--marginals was true, is false"},
		{"--marginals --chains 7", "", "--chains was 7, is 25; --marginals was true, is false"},
		{"--marginals --steps 5", "", "--marginals was true, is false; --steps was 5, is 20"},
		{"--start random", "", "--start was random, is masked"},
		{"--allow " + words, "", "--allow was " + hash + ", is none"},
		{"", "--chains 4", "--chains was 25, is 4"},
		{"", "--seed 2", "--seed was 1, is 2"},
		{"", "--model small", "--model was " + hash + ", is " + hash +
			"; lengths.safetensors was none, is " + hash},
		// What no other flag explains is named.
		{"--method sample", "", "--method was sample, is search"},
		{"--chains 25", "", "--method was sample, is search"},
		{"", "--method sample --chains 4", "--chains was 25, is 4; --method was search, is sample"},
		{"--chains 4", "--method exact", "--chains was 4, is 25; --method was sample, is exact"},
	} {
		out := filepath.Join(dir, "out.jsonl")
		run := withTiny("batch", in, "-o", out, "--quiet", "--seed", "1")
		first := append(run, append(strings.Fields(c.first), "--force")...)
		if r := infillRun("", first...); r.code != exitOK {
			t.Fatalf("%s: %s", c.first, r.err)
		}
		r := infillRun("", append(run, append(strings.Fields(c.then), "--resume")...)...)
		want := "infill: the output does not belong to this run: " + c.says +
			"; give what the first run had, or name another output (--force begins again)\n"
		if r.code != exitUsage || anyHash.ReplaceAllString(r.err, hash) != want {
			t.Errorf("%q, then %q: exit %d, %swant %s", c.first, c.then, r.code, r.err, want)
		}
	}
}

// The seed that a run has chosen is told where the run begins, and not where it is refused.
func TestSeedOfRunThatBegins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.txt"), "the [MASK] sleeps .\n")
	run := withTiny("batch", in, "-o", filepath.Join(dir, "out.jsonl"), "--progress", "none")
	for _, c := range []struct {
		flags string
		code  int
		seeds int
	}{
		{"--chains 4", exitOK, 1},
		{"--chains 4 --resume", exitOK, 1},
		{"--chains 5 --resume", exitUsage, 0},
		{"", exitUsage, 0}, // the output is there
	} {
		r := infillRun("", append(run, strings.Fields(c.flags)...)...)
		if n := strings.Count(r.err, "(repeat with --seed "); r.code != c.code || n != c.seeds {
			t.Errorf("%q: exit %d, want %d, and %d seeds, want %d: %s", c.flags, r.code, c.code, n, c.seeds,
				r.err)
		}
	}
}

// The records of a run that goes on are compared with the texts, which standard input may have
// changed without a trace in the manifest. Bytes that are not UTF-8 have another text in theirs.
func TestResumeOfOtherTexts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const in = "the [MASK] sleeps .\nbad \xff [MASK]\nthe dog \\[MASK] runs .\n"
	masked := `{"text":"the dog sleeps .","mask_words":1}` + "\n" + `{"text":"the cat runs ."}` + "\n"
	for name, c := range map[string]struct{ first, then, says string }{
		"the same":     {in, in + "the [MASK] runs .\n", ""},
		"another text": {in, strings.Replace(in, "sleeps", "runs", 1), "record 1 of"},
		"masked words": {masked, masked, ""},
		"other words":  {masked, strings.Replace(masked, "dog", "cat", 1), "record 1 of"},
	} {
		out := filepath.Join(dir, name+".jsonl")
		run := withTiny("batch", "-o", out, "--quiet", "--seed", "1", "--steps", "2")
		if r := infillRun(c.first, run...); r.code != exitSomeFailed {
			t.Fatalf("%s: exit %d: %s", name, r.code, r.err)
		}
		was := get(t, out)
		r := infillRun(c.then, append(run, "--resume")...)
		switch {
		case c.says == "" && (r.code != exitSomeFailed || !strings.HasPrefix(get(t, out), was)):
			t.Errorf("%s: exit %d: %s", name, r.code, r.err)
		case c.says != "" && (r.code != exitUsage || !strings.Contains(r.err, c.says) ||
			!strings.Contains(r.err, "is not of the text that line 1 of the input has") || get(t, out) != was):
			t.Errorf("%s: exit %d: %s", name, r.code, r.err)
		}
	}
}
