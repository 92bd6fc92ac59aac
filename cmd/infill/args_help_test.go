package main

import (
	"strings"
	"testing"
)

// --help prints the command's help wherever it stands: after a file, a text or
// a sampler, and among other flags.
func TestHelpAfterArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, names string }{
		{"eval a.txt --confidence -h", "infill eval"},
		{"samplers dmala --help", "infill samplers"},
		{"fill text --help --top 3", "infill fill"},
		{"help fill", "infill fill"},
	} {
		r := infillRun("", strings.Fields(c.args)...)
		if r.code != 0 || !strings.Contains(r.out, c.names) || !strings.Contains(r.out, "USAGE") {
			t.Errorf("%s: exit %d, %q, %q", c.args, r.code, r.err, r.out)
		}
	}
	for _, args := range [][]string{{"--help", "fill"}, {"-h", "fill", "x"}, {"--help", "model", "pull"},
		{"model", "--help", "pull"}} {
		want := "infill fill ["
		if args[len(args)-1] == "pull" {
			want = "infill model pull ["
		}
		if r := infillRun("", args...); r.code != 0 || !strings.Contains(r.out, want) {
			t.Errorf("%q: exit %d, %s%s", args, r.code, r.err, r.out)
		}
	}
	if r := infillRun("", "fil", "--help"); r.code == 0 || !strings.Contains(r.err, "fil") {
		t.Errorf("help of an unknown command: exit %d, %q", r.code, r.err)
	}
}
