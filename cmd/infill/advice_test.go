package main

import (
	"os"
	"strings"
	"testing"
)

// Only commands that can mask words advise it, and only on standard error: the records have the
// error alone.
func TestAdviceToMask(t *testing.T) {
	t.Parallel()
	in := write(t, "in.txt", "the dog sleeps .\n")
	for command, want := range map[string]bool{"batch": true, "fill": true, "score": false} {
		args := withTiny(command, in, "-o", in+".jsonl", "--output-format", "jsonl", "--seed", "1")
		switch command {
		case "fill":
			args = withTiny("fill", "--json", "the dog sleeps .")
		case "score":
			args = withTiny("score", "--file", in, "-o", in+".scores", "--candidates", "dog,cat")
		}
		r := infillRun("", args...)
		if !strings.Contains(r.err, "no blank") || strings.Contains(r.err, "--mask-words") != want {
			t.Errorf("%s: %s", command, r.err)
		}
		if out := r.out + existing(in+".jsonl"); strings.Contains(out, "--mask-words") {
			t.Errorf("%s: %s", command, out)
		}
	}
}

// A command that ranks words does not advise the flags of one that fills, for a text or for a file.
func TestAdviceToRank(t *testing.T) {
	t.Parallel()
	const text = "the [MASK/x+/] sleeps ."
	in := write(t, "in.txt", text+"\n")
	for _, args := range [][]string{{text}, {"--file", in, "-o", in + ".jsonl"}} {
		r := infillRun("", withTiny(append([]string{"score", "--candidates", "dog"}, args...)...)...)
		if !strings.Contains(r.err, "no token may fill") || !strings.Contains(r.err, "--candidates") ||
			strings.Contains(r.err, "--min-distance") {
			t.Errorf("%q: %s", args, r.err)
		}
	}
}

func existing(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}

// What was probably meant as a blank is told of, if another blank lets the run go on.
func TestBlankSlip(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"the [mask] sleeps in the [MASK] .":    "[mask] is not a blank",
		"the [MASK sleeps in the [MASK] .":     "[MASK is not closed",
		"[Mask] [MASK] .":                      "[Mask] is not a blank",
		"the [MAK] sleeps in the [MASK] .":     "[MAK] is not a blank",
		"the [MASK] and the [MASKS] sleep .":   "[MASKS] is not a blank",
		"the [SEP] sleeps in the [MASK] [A] .": "",
		"the [MASK][MASK] sleep .":             "",
		`the \[MSK] sleeps in the [MASK] .`:    "",
		`the \[mask] sleeps in the [MASK] .`:   "",
		"the [MASK|dog|cat] sleeps .":          "",
		"the [MASK*1-2] sleeps in the [x] .":   "",
		"the [MASK/^[a-d]/] sleeps [MASK:a] .": "",
	} {
		r := infillRun("", withTiny("fill", "--seed", "1", "--steps", "2", "--chains", "2", text)...)
		if got := strings.Contains(r.err, "[MASK]"); r.code != 0 || got != (want != "") ||
			!strings.Contains(r.err, want) {
			t.Errorf("%s: exit %d, %s", text, r.code, r.err)
		}
		if r := infillRun("", withTiny("fill", "--seed", "1", "--steps", "2", "--quiet", text)...); r.err != "" {
			t.Errorf("%s: quiet: %s", text, r.err)
		}
	}
}
