package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"infill/infill/jsonl"
	"infill/infill/profile"
)

const tuneTexts = "the [MASK] saw the [MASK] .\nthe [MASK] [MASK] sleeps in the [MASK] .\n" +
	"the [MASK] sleeps .\nthe [MASK*1-2] runs in the [MASK] .\n"

// A profile has what was tuned for each number of coordinates. Fillings with it adapt nothing, have
// no burn-in, and take those values.
func TestTune(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.txt"), filepath.Join(dir, "p.json")
	put(t, in, tuneTexts)
	args := withTiny("tune", in, "-o", out, "--steps", "40", "--chains", "4", "--seed", "3", "--sampler", "dmala")
	if r := infillRun("", args...); r.code != 0 || r.out != "" || !strings.Contains(r.err, "dmala, tuned on 4 of 4 texts") {
		t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
	}
	first := get(t, out)
	p, err := profile.Decode(strings.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Tuned) != 3 || p.Tuned[1].Texts != 2 || p.Tuned[1].Chains != 6 || p.Tuned[2].Texts != 2 ||
		p.Sampler != "dmala" || p.Corpus.Texts != 4 || p.Settings["steps"] != "40" {
		t.Errorf("%s", first)
	}
	// A profile that exists stays, unless it may be overwritten.
	if r := infillRun("", append(args, "--seed", "4")...); r.code != exitUsage || get(t, out) != first ||
		!strings.Contains(r.err, "-o "+out+": the file exists; remove it, name another, or give --force") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	args = append(args, "--force")
	// The same seed makes the same bytes, and a part of the corpus is a part.
	if r := infillRun("", args...); r.code != 0 || get(t, out) != first {
		t.Errorf("exit %d: %s\n%s", r.code, r.err, get(t, out))
	}
	some := filepath.Join(dir, "some.json")
	r := infillRun(tuneTexts, withTiny("tune", "-", "-o", some, "--steps", "8", "--sample", "2", "--seed", "1")...)
	if q, err := profile.Decode(strings.NewReader(get(t, some))); r.code != 0 || err != nil || q.Corpus.Sampled != 2 ||
		q.Corpus.SHA256 != p.Corpus.SHA256 {
		t.Errorf("exit %d: %s%v %+v", r.code, r.err, err, q)
	}
	// A table is a corpus too, with its texts in any column.
	table := put(t, filepath.Join(dir, "in.csv"), "n,sentence\n1,the [MASK] sleeps .\n2,a [MASK] runs .\n")
	args2 := []string{"tune", table, "-o", filepath.Join(dir, "table.json"), "--steps", "8", "--seed", "1"}
	if r := infillRun("", withTiny(args2...)...); r.code == 0 || !strings.Contains(r.err, "--text-field NAME") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := infillRun("", withTiny(append(args2, "--text-field", "sentence")...)...); r.code != 0 ||
		!strings.Contains(r.err, "tuned on 2 of 2 texts") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	// Lines do not choose how to sample.
	var plain, chosen strings.Builder
	input := slices.Index(args, in)
	for _, text := range strings.Split(strings.TrimSpace(tuneTexts), "\n") {
		fmt.Fprintf(&plain, `{"text":%q}`+"\n", text)
		fmt.Fprintf(&chosen, `{"text":%q,"anneal":"10..0.1","collect":"chain","thin":9,"budget":"rows","start":"random",`+
			`"sampler":"dula","steps":1,"chains":1,"marginals":true,"log_z":true}`+"\n", text)
	}
	for i, lines := range []string{plain.String(), chosen.String()} {
		args[input] = put(t, filepath.Join(dir, fmt.Sprint(i, ".jsonl")), lines)
		if r := infillRun("", args...); r.code != 0 {
			t.Fatalf("exit %d: %s", r.code, r.err)
		}
		q, err := profile.Decode(strings.NewReader(get(t, out)))
		if err != nil || !reflect.DeepEqual(q.Tuned, p.Tuned) {
			t.Errorf("%v: %+v, want %+v", err, q, p.Tuned)
		}
	}
	put(t, out, first)
	for i, text := range []string{"the [MASK] saw the [MASK] .", "the [MASK] [MASK] saw the [MASK] ."} {
		r := infillRun("", withTiny("fill", "--profile", out, "--json", "--seed", "1", "--steps", "10", text)...)
		var rec jsonl.Record
		if err := json.Unmarshal([]byte(r.out), &rec); err != nil {
			t.Fatal(err, r.err)
		}
		if want := p.Tuned[1+i].Values["step-size"]; r.code != 0 || rec.Sampler != "dmala" ||
			math.Abs(rec.StepSize-want) > 1e-12 || rec.MoveShare == nil {
			t.Errorf("exit %d: %s, want a step size of %v", r.code, r.out, want)
		}
	}
}

// What does not go with a profile is refused, and the message names both sides.
func TestProfileRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.txt"), filepath.Join(dir, "p.json")
	put(t, in, tuneTexts)
	if r := infillRun("", withTiny("tune", in, "-o", out, "--steps", "8", "--seed", "3", "--quiet")...); r.code != 0 || r.err != "" {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	good := get(t, out)
	p, err := profile.Decode(strings.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	other := "sha256:" + strings.Repeat("7", 64)
	foreign, broken := filepath.Join(dir, "foreign.json"), filepath.Join(dir, "broken.json")
	put(t, foreign, strings.Replace(good, p.Model, other, 1))
	put(t, broken, strings.Replace(good, `"rate"`, `"rat"`, 1))
	const text = "the [MASK] saw the [MASK] ."
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--profile", foreign}, []string{"--profile", other, p.Model}},
		{[]string{"--profile", out, "--sampler", "dmala"}, []string{"the sampler rows, and this is the sampler dmala"}},
		{[]string{"--profile", out, "--gradient", "forward"}, []string{"gradient mode full", "gradient mode forward"}},
		{[]string{"--profile", out, "--param", "rate=0.5"}, []string{"--profile and --param: give one of them"}},
		{[]string{"--profile", out, "--step-size", "1"}, []string{"--profile and --step-size"}},
		{[]string{"--profile", broken}, []string{"broken.json", "bad profile", "rat"}},
		{[]string{"--profile", filepath.Join(dir, "none.json")}, []string{"none.json"}},
	} {
		r := infillRun("", withTiny(append([]string{"fill", text}, c.args...)...)...)
		if r.code != 2 && r.code != 3 || r.out != "" {
			t.Errorf("%v: exit %d: %s", c.args, r.code, r.out)
		}
		for _, want := range c.want {
			if !strings.Contains(r.err, want) {
				t.Errorf("%v: no %q in %s", c.args, want, r.err)
			}
		}
	}
	// The profile's sampler may be named. A line that chooses another fails alone.
	lines, done := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "out.jsonl")
	put(t, lines, `{"text":"`+text+`"}`+"\n"+`{"text":"`+text+`","sampler":"dula"}`+"\n"+`{"text":"`+text+`","sampler":"rows"}`+"\n")
	batch := withTiny("batch", lines, "-o", done, "--seed", "1", "--steps", "6", "--quiet", "--sampler", "rows", "--profile")
	r := infillRun("", append(batch, out)...)
	if got := strings.Split(get(t, done), "\n"); r.code != 1 || len(got) != 4 ||
		!strings.Contains(got[1], `"code":"bad_option"`) || strings.Contains(got[0]+got[2], `"error"`) {
		t.Errorf("exit %d: %s%s", r.code, r.err, got)
	}
	// The manifest has the profile, and another one cannot go on with the run.
	q := *p
	q.Tuned = q.Tuned[:1]
	b, err := q.Encode()
	if err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(dir, "second.json")
	put(t, second, string(b))
	if r := infillRun("", append(batch, second, "--resume")...); r.code != 2 && r.code != 3 || !strings.Contains(r.err, "profile") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := infillRun("", append(batch, out, "--resume")...); r.code != 1 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// Samplers that adapt nothing, and corpora without texts, make no profile.
func TestTuneRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.txt"), filepath.Join(dir, "p.json")
	put(t, in, tuneTexts)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{in, "-o", out, "--sampler", "gibbs-mh", "--steps", "4"}, "gibbs-mh adapts nothing"},
		{[]string{in}, "-o FILE"}, {[]string{in, "-o", out, "--anneal", "3..1"}, "no flag --anneal"},
		{[]string{"-o", out}, "one file of texts"},
		{[]string{in, "-o", in}, "the output is the input"},
		{[]string{filepath.Join(dir, "none"), "-o", out}, "none"},
		{[]string{dir, "-o", out}, dir + " is a folder; name a file in it"},
	} {
		if r := infillRun("", withTiny(append([]string{"tune"}, c.args...)...)...); r.code == 0 || !strings.Contains(r.err, c.want) {
			t.Errorf("%v: exit %d: %s", c.args, r.code, r.err)
		}
	}
	if r := infillRun("no blank\n", withTiny("tune", "-", "-o", out)...); r.code == 0 || !strings.Contains(r.err, "line 1") ||
		!strings.Contains(r.err, "--mask-words 1") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// Fewer steps than it takes to adapt make no profile. The least number makes one.
func TestTuneFewSteps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.txt"), tuneTexts)
	for steps, code := range map[string]int{"0": exitUsage, "1": exitUsage, "2": exitOK} {
		out := filepath.Join(dir, steps+".json")
		r := infillRun("", withTiny("tune", in, "-o", out, "--seed", "1", "--steps", steps)...)
		_, err := os.Stat(out)
		refused := strings.Contains(r.err, "--steps "+steps+" adapts nothing") &&
			strings.Contains(r.err, "give 2 or more")
		if r.code != code || (err == nil) != (code == exitOK) || refused != (code == exitUsage) {
			t.Errorf("%s steps: exit %d, %v: %s", steps, r.code, err, r.err)
		}
	}
}

// What is left out is said with its line and the reason.
func TestTuneLeftOut(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "p.json")
	for in, want := range map[string]string{
		"\nno blank\n":           "\n1 of the sample could not be filled, line 6: ",
		"\nno blank\nand none\n": "\n2 of the sample could not be filled, the first in line 6: ",
	} {
		r := infillRun(tuneTexts+in, withTiny("tune", "-", "-o", out, "--force", "--seed", "1", "--steps",
			"4")...)
		_, reason, found := strings.Cut(r.err, want)
		reason, _, _ = strings.Cut(reason, "\n")
		if r.code != 0 || !found || !strings.Contains(reason, "no blank") ||
			!strings.Contains(reason, "--mask-words 1") {
			t.Errorf("exit %d: %s", r.code, r.err)
		}
	}
}
