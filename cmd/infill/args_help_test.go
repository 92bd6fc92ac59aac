package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// Help is that of the command, wherever it is asked for: after a target's name, a
// text or a sampler, and among other flags.
func TestHelpAfterArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, names string }{
		{"samplers bench ising --help", "infill samplers bench"},
		{"samplers bench ising --steps 20 -h", "infill samplers bench"},
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

// infill samplers bench --json prints one object.
func TestBenchJSON(t *testing.T) {
	t.Parallel()
	bench := []string{"samplers", "bench", "ising:rows=2,cols=2", "--steps", "20", "--json"}
	r := infillRun("", bench...)
	var res struct{ Samplers []struct{ Sampler string } }
	if err := json.Unmarshal([]byte(r.out), &res); err != nil || r.code != 0 ||
		len(res.Samplers) != 3 {
		t.Errorf("exit %d, %v, %s%s", r.code, err, r.out, r.err)
	}
	if r := infillRun("", append(bench, "--markdown")...); r.code != 2 || r.out != "" {
		t.Errorf("two formats: exit %d, %s", r.code, r.out)
	}
}
