package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"infill/infill"
	"infill/infill/jsonl"
)

// The table below the fillings has the numbers of the record, and batch writes the same record.
func TestFillMarginals(t *testing.T) {
	t.Parallel()
	const text = "the [MASK] saw the [MASK] ."
	args := withTiny("fill", "--seed", "1", "--steps", "60", "--top", "3", "--marginals", text)
	r := infillRun("", args...)
	var rec jsonl.Filled
	if err := json.Unmarshal([]byte(infillRun("", append(args, "--json", "--quiet")...).out), &rec); err != nil {
		t.Fatal(err)
	}
	m := rec.Marginals
	if r.code != 0 || m == nil || len(m.Blanks) != 2 || len(m.Fillings.Likeliest) != 3 || m.Draws != 750 {
		t.Fatalf("exit %d: %s%s%+v", r.code, r.out, r.err, m)
	}
	if !strings.Contains(r.err, "probabilities from 750 states (worth ") {
		t.Errorf("%q", r.err)
	}
	row := regexp.MustCompile(`(?m)^ *([\d.]+) % ± *([\d.]+)  (.*)$`)
	rows := row.FindAllStringSubmatch(r.out, -1)
	var all []infill.Estimate
	for _, b := range append(m.Blanks, m.Fillings) {
		all = append(all, b.Likeliest...)
	}
	if len(rows) != len(all) || strings.Count(r.out, "(others)") != 3 {
		t.Fatalf("%d rows of %d: %s", len(rows), len(all), r.out)
	}
	for i, e := range all {
		if math.Abs(number(t, rows[i][1])-100*e.Probability) > .051 ||
			math.Abs(number(t, rows[i][2])-100**e.Error) > .051 || rows[i][3] != e.Text {
			t.Errorf("%q, want %+v", rows[i][0], e)
		}
	}
	// A warning names the line where there are lines.
	short := withTiny("fill", "--seed", "1", "--steps", "4", "--chains", "2", "--marginals", "--quiet")
	if r := infillRun("", append(short, text)...); !strings.HasPrefix(r.err, "infill: warning: ") {
		t.Errorf("%q", r.err)
	}
	if r := infillRun(text+"\n", short...); !strings.HasPrefix(r.err, "infill: line 1: warning: ") {
		t.Errorf("%q", r.err)
	}
	// One blank is exact.
	r = infillRun("", withTiny("fill", "--marginals", "--quiet", "--top", "2", "the [MASK] sleeps .")...)
	if r.code != 0 || strings.Count(r.out, " % ± 0.0  ") != 4 {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	// A line of JSON may ask for itself, and a sampler that π is not invariant under is refused.
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "out.jsonl")
	put(t, in, `{"text":"`+text+`","marginals":true,"steps":60,"top":3}`+"\n"+`{"text":"`+text+`"}`+"\n"+
		`{"text":"`+text+`","marginals":true,"sampler":"dula"}`+"\n")
	r = infillRun("", withTiny("batch", in, "-o", out, "--seed", "1", "--quiet")...)
	lines := strings.Split(get(t, out), "\n")
	if r.code != 1 || len(lines) != 4 || !strings.Contains(lines[0], `"marginals":{"blanks":[{"likeliest":[{"text":`) ||
		strings.Contains(lines[1], "marginals") || !strings.Contains(lines[2], `"code":"bad_option"`) {
		t.Errorf("exit %d: %s%s", r.code, r.err, strings.Join(lines, "\n"))
	}
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	var v float64
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatal(err)
	}
	return v
}
