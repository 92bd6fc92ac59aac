package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/internal/ort/orttest"
	"infill/mlm"
)

// doctor says in both forms which weights 8-bit products have, as models get them.
func TestDoctorSaysWhichIntegers(t *testing.T) {
	orttest.Load(t)
	saturates, err := mlm.SaturatesIntegers()
	if err != nil {
		t.Fatal(err)
	}
	want := map[bool]string{false: "signed", true: "unsigned"}[saturates]
	var d diagnosis
	r := infillRun("", "doctor", "--json")
	if err := json.Unmarshal([]byte(r.out), &d); err != nil || d.Integers != want {
		t.Errorf("%q, %v, want %q", d.Integers, err, want)
	}
	r = infillRun("", "doctor")
	if !strings.Contains(r.out, "\nmodels quantised elsewhere: "+want+" weights") {
		t.Errorf("want %s weights in:\n%s", want, r.out)
	}
}

// Where the cache cannot keep a model's weights, doctor and the commands that fill say so, once and
// with the remedy. With --quiet they do not, and the fillings are the same.
func TestUnkeptIsSaid(t *testing.T) {
	orttest.Load(t)
	dir := newCache(t)
	fill := []string{"fill", "--model", "small", "--seed", "1", "--method", "exact", "The dog [MASK]."}
	want := infillRun("", fill...)
	if want.code != 0 || strings.Contains(want.err, "cache") {
		t.Fatalf("exit %d: %s", want.code, want.err)
	}
	if r := infillRun("", "doctor"); r.code != 0 || strings.Contains(r.out, "memory:") {
		t.Errorf("exit %d:\n%s", r.code, r.out)
	}
	blocked := filepath.Join(dir, "graphs")
	if err := os.RemoveAll(blocked); err != nil {
		t.Fatal(err)
	}
	put(t, blocked, "a file in the place of the folder")
	const remedy = "set INFILL_CACHE to another folder and run infill doctor --install"
	r := infillRun("", fill...)
	if r.code != 0 || r.out != want.out || strings.Count(r.err, remedy) != 1 ||
		!strings.Contains(r.err, blocked) {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	if r := infillRun("", append(fill, "--quiet")...); r.out != want.out || r.err != "" {
		t.Errorf("quiet: %s%s", r.out, r.err)
	}
	if r := infillRun("", "doctor"); r.code != 0 || !strings.Contains(r.out, remedy) {
		t.Errorf("exit %d:\n%s", r.code, r.out)
	}
	var d diagnosis
	if r := infillRun("", "doctor", "--json"); json.Unmarshal([]byte(r.out), &d) != nil ||
		!strings.Contains(d.Unkept, blocked) {
		t.Errorf("%s", r.out)
	}
}

// doctor has the size of each folder of the cache.
func TestDoctorSizes(t *testing.T) {
	orttest.Load(t)
	dir := newCache(t)
	for _, name := range []string{"graphs/x/a", "graphs/b", "models/m/c"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, name), strings.Repeat("x", 2e6))
	}
	r := infillRun("", "doctor")
	for _, want := range []string{"\n  graphs      4.0 MB\n", "\n  models      2.0 MB\n"} {
		if r.code != 0 || !strings.Contains(r.out, want) {
			t.Errorf("exit %d, no %q in:\n%s", r.code, want, r.out)
		}
	}
	var d diagnosis
	if r := infillRun("", "doctor", "--json"); json.Unmarshal([]byte(r.out), &d) != nil ||
		d.CacheBytes["graphs"] != 4e6 || d.CacheBytes["models"] != 2e6 {
		t.Errorf("%s", r.out)
	}
}

// With --time doctor says where the time of a filling goes: the parts fit into the whole.
func TestDoctorTime(t *testing.T) {
	orttest.Load(t)
	var d diagnosis
	r := infillRun("", "doctor", "--time", "--json")
	if err := json.Unmarshal([]byte(r.out), &d); err != nil || d.Time == nil {
		t.Fatalf("%v: %s%s", err, r.out, r.err)
	}
	x := d.Time
	if x.Opening <= 0 || x.Rows < 4 || x.Runtime <= 0 || x.Threads < 1 ||
		x.Runtime > float64(x.Threads)*x.Filling {
		t.Errorf("%+v", x)
	}
	want := fmt.Sprintf("opening %.2f s, %d rows", x.Opening, x.Rows)
	if text := d.text(); !strings.Contains(text, want) {
		t.Errorf("no %q in:\n%s", want, text)
	}
	if r := infillRun("", "doctor", "--json"); strings.Contains(r.out, "opening_seconds") {
		t.Error("without --time it fills a sentence")
	}
}
