package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/jsonl"
)

// A few combinations are all visited, so that their scores have the log Z that the guide gives.
func TestListsAreVisited(t *testing.T) {
	t.Parallel()
	r := infillRun("", "fill", "--model", "default", "--seed", "1", "--log-z", "--top", "6", "--json", "--quiet",
		"[MASK|He|She] is a [MASK|nurse|doctor|engineer].")
	var rec jsonl.Record
	if err := json.Unmarshal([]byte(r.out), &rec); err != nil {
		t.Fatal(err, r.err)
	}
	if rec.Distinct != 6 || len(rec.Fillings) != 6 {
		t.Fatalf("not all of six fillings: %s", r.out)
	}
	sum := 0.0
	for _, f := range rec.Fillings {
		sum += math.Exp(*f.Score)
	}
	n, logZ := rec.Normalizers[0], math.Log(sum)
	if math.Abs(logZ+3.876) > .01 || math.Abs(*n.LogZ-logZ) > 3**n.Error || *n.Error > .1 {
		t.Errorf("log Z is %.3f by the scores, %.3f ± %.3f by the chains", logZ, *n.LogZ, *n.Error)
	}
}

// fill prints the numbers of the record, and a line of batch asks for itself.
func TestFillNormalize(t *testing.T) {
	t.Parallel()
	const text = "the [MASK*1-2] saw the [MASK] ."
	args := withTiny("fill", "--seed", "1", "--steps", "60", "--top", "3", "--log-z", text)
	r := infillRun("", args...)
	var rec jsonl.Record
	if err := json.Unmarshal([]byte(infillRun("", append(args, "--json", "--quiet")...).out), &rec); err != nil {
		t.Fatal(err)
	}
	if r.code != 0 || len(rec.Normalizers) != 2 || len(rec.Fillings) != 3 {
		t.Fatalf("exit %d: %s%s%+v", r.code, r.out, r.err, rec)
	}
	for _, f := range rec.Fillings {
		if want := fmt.Sprintf("log P %.2f  %s\n", *f.LogProbability, f.Text); !strings.Contains(r.out, want) {
			t.Errorf("no %q in %s", want, r.out)
		}
	}
	for i, n := range rec.Normalizers {
		want := fmt.Sprintf("log Z %.2f ± %.2f, %.2f and %.2f by the %d chains of either way, tokens in "+
			"the blanks: %d 1\n", *n.LogZ, *n.Error, *n.Below, *n.Above, 13-i, i+1)
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in %s", want, r.out)
		}
	}
	// A sampler that does not leave π invariant gives no draws to go back from.
	r = infillRun("", withTiny("fill", "--seed", "1", "--log-z", "--quiet", "--sampler", "gibbs", text)...)
	if r.code != 0 || !strings.Contains(r.out, " effective chains of 13, tokens") || strings.Contains(r.out, "either") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	// One blank is exact.
	r = infillRun("", withTiny("fill", "--log-z", "--quiet", "--top", "2", "the [MASK] sleeps .")...)
	if r.code != 0 || !strings.Contains(r.out, " ± 0.00, computed\n") || strings.Count(r.out, "log P -") != 2 {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "out.jsonl")
	put(t, in, `{"text":"`+text+`","log_z":true,"steps":20}`+"\n"+`{"text":"`+text+`"}`+"\n")
	r = infillRun("", withTiny("batch", in, "-o", out, "--seed", "1", "--quiet")...)
	lines := strings.Split(get(t, out), "\n")
	if r.code != 0 || len(lines) != 3 || !strings.Contains(lines[0], `"normalizers":[{"lengths":[1,1],"log_z":`) ||
		!strings.Contains(lines[0], `"log_probability":`) || strings.Contains(lines[1], "normaliz") {
		t.Errorf("exit %d: %s%s", r.code, r.err, strings.Join(lines, "\n"))
	}
}
