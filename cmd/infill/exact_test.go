package main

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"infill/infill/jsonl"
)

// One blank prints percentages, says that nothing was sampled, and needs no seed.
func TestFillExact(t *testing.T) {
	t.Parallel()
	const text = "the [MASK] sleeps ."
	r := infillRun("", withTiny("fill", "--top", "3", text)...)
	line := regexp.MustCompile(`^ +-\d+\.\d\d  ( +\d+\.\d| <0\.1) %  the \S+ sleeps \.$`)
	lines := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	if r.code != 0 || len(lines) != 3 {
		t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
	}
	for _, l := range lines {
		if !line.MatchString(l) {
			t.Errorf("%q", l)
		}
	}
	said := regexp.MustCompile(`^exact, without sampling: 3 of \d+ fillings, with \d+\.\d % of the ` +
		`probability, in \d+\.\d\d s\n$`)
	if !said.MatchString(r.err) {
		t.Errorf("%q", r.err)
	}
	for _, seed := range []string{"1", "2"} {
		other := infillRun("", withTiny("fill", "--top", "3", "--seed", seed, "--quiet", text)...)
		if other.out != r.out || other.err != "" {
			t.Errorf("seed %s: %s%s", seed, other.out, other.err)
		}
	}
	// The seed is printed where it has a part: with the first text that is sampled, or masked.
	r = infillRun(text+"\nthe [MASK] and the [MASK] .\n"+text+"\n",
		withTiny("fill", "--steps", "2", "--method", "exact", "-")...)
	if strings.Count(r.err, "exact, ") != 2 || strings.Count(r.err, "(repeat with --seed ") != 1 ||
		!strings.HasPrefix(r.err, "exact, ") {
		t.Errorf("%q", r.err)
	}
	r = infillRun("", withTiny("fill", "--mask-words", "1", "the dog sleeps .")...)
	if !strings.HasPrefix(r.err, "seed ") || !strings.Contains(r.err, "exact, ") {
		t.Errorf("%q", r.err)
	}
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	for _, flags := range [][]string{
		{"--method", "sample"}, {"--chains", "25"}, {"--sampler", "dmala"}, {"--trace", trace},
	} {
		r := infillRun("", withTiny(append([]string{"fill", "--seed", "1", text}, flags...)...)...)
		if r.code != 0 || strings.Contains(r.out, "%") || !strings.Contains(r.err, "chains × ") {
			t.Errorf("%v: exit %d: %s%s", flags, r.code, r.out, r.err)
		}
	}
	if steps := strings.Count(get(t, trace), "\n"); steps != 21 {
		t.Errorf("a trace of %d lines", steps)
	}
	for flag, value := range map[string]string{"--chains": "25", "--sampler": "dmala", "--trace": trace + "2"} {
		r := infillRun("", "fill", "--method", "search", flag, value, text)
		if want := flag + " goes with --method sample: "; r.code != exitUsage || !strings.Contains(r.err, want) {
			t.Errorf("exit %d: %swant %q", r.code, r.err, want)
		}
	}
	if r := infillRun("", "compare", "--method", "exact", "x"); r.code != exitUsage {
		t.Errorf("compare samples: exit %d", r.code)
	}
}

// Records of fill and batch have the probabilities; a line that asks for chains is sampled.
func TestBatchExact(t *testing.T) {
	t.Parallel()
	const text = "the [MASK] sleeps ."
	in := `{"text":"` + text + `","exact":"mine"}` + "\n" + `{"text":"` + text + `","chains":3}` + "\n" +
		`{"text":"` + text + `","temperature":4}` + "\n"
	r := infillRun(in, withTiny("batch", "--seed", "1", "--quiet", "--format", "jsonl", "-")...)
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if r.code != 0 || len(lines) != 3 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	recs := make([]*jsonl.Filled, 3)
	for i, l := range lines {
		recs[i] = recordIn[jsonl.Filled](t, l)
		if exact := i != 1; recs[i].Exact != exact || (recs[i].Fillings[0].Probability != nil) != exact ||
			(recs[i].Sampler == "") != exact || (recs[i].Seed == nil) != exact {
			t.Errorf("%s", l)
		}
	}
	if f := recs[0].Fields; len(f) != 1 || f[0].Name != "exact" || string(f[0].Value) != `"mine"` {
		t.Errorf("the user's own field: %+v", f)
	}
	cold, hot := *recs[0].Fillings[0].Probability, *recs[2].Fillings[0].Probability
	if *recs[0].Fillings[0].Score != *recs[2].Fillings[0].Score || cold <= hot {
		t.Errorf("temperature 1 has %v, 4 has %v", cold, hot)
	}
	alone := infillRun("", withTiny("fill", "--json", text)...)
	var rec jsonl.Filled
	if err := json.Unmarshal([]byte(alone.out), &rec); err != nil || !rec.Exact ||
		*rec.Fillings[0].Probability != cold {
		t.Errorf("%v: %s", err, alone.out)
	}
	records := put(t, filepath.Join(t.TempDir(), "r.jsonl"), r.out)
	if r := infillRun("", "eval", records, "--reference", put(t, records+".txt", text)); r.code != 0 {
		t.Errorf("eval: exit %d: %s", r.code, r.err)
	}
}

// An output goes on by the method and the score that it was begun with only.
func TestResumeByTheSameMethod(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.txt"), "the [MASK] sleeps .\nthe [MASK] runs .\n")
	out := filepath.Join(dir, "out.jsonl")
	args := withTiny("batch", in, "-o", out, "--seed", "1", "--quiet", "--method", "sample",
		"--score", "pll")
	if r := infillRun("", args...); r.code != 0 {
		t.Fatal(r.err)
	}
	whole := get(t, out)
	put(t, out, whole[:strings.Index(whole, "\n")+1])
	again := withTiny("batch", in, "-o", out, "--seed", "1", "--quiet", "--resume")
	r := infillRun("", again...)
	if r.code != exitUsage || !strings.Contains(r.err,
		"--method was sample, is search; --score was pll, is blended;") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := infillRun("", append(again, "--method", "sample", "--score", "pll")...); r.code != 0 || get(t, out) != whole {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// A filling that the tokenizer cuts otherwise once it is part of the text is told of, where notes
// are printed, and marked in records.
func TestFillRecut(t *testing.T) {
	t.Parallel()
	const text, finished = "He was walk[MASK/^walk(ing|able)$/].", "He was walking."
	r := infillRun("", "fill", text)
	if r.code != 0 || !strings.HasPrefix(r.err, "1 of these is cut into other pieces") ||
		!strings.Contains(r.err, finished) {
		t.Errorf("exit %d: %q", r.code, r.err)
	}
	if r := infillRun("", "fill", "--quiet", text); r.err != "" {
		t.Errorf("%q", r.err)
	}
	// An entry of a list has the score of the finished text.
	for _, same := range []string{"He was [MASK].", "He was walk[MASK|ing|able]."} {
		if r := infillRun("", "fill", same); r.code != 0 || strings.Contains(r.err, "pieces") {
			t.Errorf("%s: exit %d: %q", same, r.code, r.err)
		}
	}
	r = infillRun("", "fill", "--json", text)
	rec := recordIn[jsonl.Filled](t, r.out)
	if len(rec.Fillings) != 2 {
		t.Fatal(r.out)
	}
	for _, f := range rec.Fillings {
		if f.Recut != (f.Text == finished) {
			t.Errorf("%q: recut is %v", f.Text, f.Recut)
		}
	}
}

// A score is a sum of logarithms and a part for the length, which can lift it above 0: a note says so
// where it does.
func TestScoreAboveZero(t *testing.T) {
	const text = "He was born in New [MASK*1-2] City, New [MASK*1-2], in the United [MASK*1-2] of America."
	for s, noted := range map[string]bool{text: true, "The [MASK] of [MASK*1-2] was a [MASK].": false} {
		r := infillRun("", "fill", "--model", "small", "--top", "1", "--no-repeat", "off", s)
		if r.code != 0 || strings.Contains(r.err, "above 0") != noted ||
			strings.HasPrefix(strings.TrimSpace(r.out), "-") == noted {
			t.Errorf("exit %d, %s%s", r.code, r.out, r.err)
		}
	}
}
