package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/jsonl"
)

// Chains begin with the fillings of an earlier run, in a batch too, whose lines may begin elsewhere.
// A line without a start fails alone, and the manifest knows the file by its content.
func TestStartFlag(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	const text = "the [MASK] sleeps in the [MASK] ."
	run := []string{"--seed", "1", "--quiet", "--chains", "2", "--steps", "0", "--collect", "last"}
	r := infillRun("", withTiny(append([]string{"fill", "--json", text}, run...)...)...)
	var first jsonl.Record
	if err := json.Unmarshal([]byte(r.out), &first); err != nil || first.Start != "" {
		t.Fatal(r.out, r.err, err)
	}
	put(t, file("run.jsonl"), r.out)
	line, err := json.Marshal(map[string]any{"text": text})
	if err != nil {
		t.Fatal(err)
	}
	random := strings.TrimSuffix(string(line), "}") + `,"start":"random"}`
	put(t, file("in.jsonl"), string(line)+"\n"+random+"\n"+`{"text":"the [MASK] and the [MASK] ."}`+"\n")
	args := append([]string{"batch", file("in.jsonl"), "-o", file("out.jsonl"), "--start", file("run.jsonl")},
		append(run, "--seed", "5")...)
	if r := infillRun("", withTiny(args...)...); r.code != 1 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	var recs []jsonl.Record
	for _, l := range strings.Split(strings.TrimSpace(get(t, file("out.jsonl"))), "\n") {
		var rec jsonl.Record
		if err := json.Unmarshal([]byte(l), &rec); err != nil {
			t.Fatal(err)
		}
		recs = append(recs, rec)
	}
	if len(recs) != 3 || recs[0].Start != "given" || recs[1].Start != "random" ||
		recs[2].Error == nil || recs[2].Error.Code != "bad_start" {
		t.Fatalf("%+v", recs)
	}
	for i, f := range recs[0].Fillings {
		if f.Text != first.Fillings[i].Text {
			t.Errorf("%q, the run before had %q", f.Text, first.Fillings[i].Text)
		}
	}
	if recs[1].Fillings[0].Text == first.Fillings[0].Text {
		t.Error("a random start is the first run's")
	}
	put(t, file("run.jsonl"), r.out+r.out)
	if r := infillRun("", withTiny(append(args, "--resume")...)...); r.code != 2 ||
		!strings.Contains(r.err, "start") {
		t.Errorf("another file of starts: exit %d, %s", r.code, r.err)
	}
	put(t, file("bad.jsonl"), "the dog\n")
	if r := infillRun("", withTiny("fill", "--start", file("bad.jsonl"), text)...); r.code != 2 ||
		!strings.Contains(r.err, "bad.jsonl, line 1: not a record") {
		t.Errorf("exit %d, %s", r.code, r.err)
	}
}
