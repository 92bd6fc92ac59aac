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
	var first jsonl.Filled
	if err := json.Unmarshal([]byte(r.out), &first); err != nil || first.Start != "" {
		t.Fatal(r.out, r.err, err)
	}
	put(t, file("run.jsonl"), r.out)
	put(t, file("first.jsonl"), r.out)
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
	var recs []jsonl.Filled
	for _, l := range strings.Split(strings.TrimSpace(get(t, file("out.jsonl"))), "\n") {
		var rec jsonl.Filled
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
	// Standard input is such a file, with the same result, unless the texts come from there.
	want := infillRun("", withTiny(append([]string{"fill", "--json", text, "--start", file("first.jsonl")},
		run...)...)...)
	got := infillRun(get(t, file("first.jsonl")), withTiny(append([]string{"fill", "--json", text, "--start", "-"},
		run...)...)...)
	if want.code != 0 || got.code != 0 || got.out != want.out || !strings.Contains(got.out, `"start":"given"`) {
		t.Errorf("from a file:\n%s%s\nfrom standard input:\n%s%s", want.out, want.err, got.out, got.err)
	}
	for in, says := range map[string]string{"the dog\n": "standard input, line 1: not a record", "": "standard input"} {
		r := infillRun(in, withTiny("fill", "--start", "-", text)...)
		if r.code != 2 || !strings.Contains(r.err, says) {
			t.Errorf("%q: exit %d, %s", in, r.code, r.err)
		}
	}
	for _, args := range [][]string{{"fill", "--start", "-"}, {"batch", "--start", "-", "-"},
		{"fill", "--start", "-", "--allow", "-", text}} {
		if r := infillRun("{}", withTiny(args...)...); r.code != 2 || !strings.Contains(r.err, "not both") {
			t.Errorf("%v: exit %d, %s", args, r.code, r.err)
		}
	}
	r = infillRun("dog\ncat\n", withTiny(append([]string{"fill", "--allow", "-", "the [MASK] sleeps ."}, run...)...)...)
	if r.code != 0 || strings.Count(r.out, "\n") != 2 || !strings.Contains(r.out, "the dog sleeps") {
		t.Errorf("words from standard input: exit %d, %s%s", r.code, r.out, r.err)
	}
	if r := infillRun("", withTiny("batch", file("in.jsonl"), "-o", file("first.jsonl"), "--force", "--start",
		file("first.jsonl"))...); r.code != 2 || !strings.Contains(r.err, "the input itself") {
		t.Errorf("the output in place of the file of starts: exit %d, %s", r.code, r.err)
	}
	put(t, file("bad.jsonl"), "the dog\n")
	if r := infillRun("", withTiny("fill", "--start", file("bad.jsonl"), text)...); r.code != 2 ||
		!strings.Contains(r.err, "bad.jsonl, line 1: not a record") {
		t.Errorf("exit %d, %s", r.code, r.err)
	}
}
