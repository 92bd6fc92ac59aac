package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"infill/infill/jsonl"
)

// A file in the form of BLiMP has an accuracy, all and by kind. Ties count as half, and the records
// have the differences of single scores.
func TestPairs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, dir+"/pairs.jsonl", `{"sentence_good":"the fish swims in the river .","sentence_bad":"the fish swims in the tree .","UID":"place"}
{"sentence_good":"the lemon is red .","sentence_bad":"the lemon is yellow .","UID":"colour"}
{"sentence_good":"the plum is purple .","sentence_bad":"the plum is yellow .","UID":"colour"}
{"sentence_good":"the dog runs .","sentence_bad":"the dog runs .","UID":"place"}
{"sentence_good":"the dog runs .","UID":"place"}
`)
	args := withTiny("score", in, "--quiet") // the names of its fields say what they are
	out := dir + "/out.jsonl"
	r := infillRun("", append(args, "-o", out)...)
	if r.code != exitSomeFailed {
		t.Fatalf("exit %d, %s", r.code, r.err)
	}
	var lines []jsonl.Scored
	for line := range strings.Lines(get(t, out)) {
		if rec, err := (jsonl.Decoder{}).Record(1, []byte(line)); err == nil && rec.By().Error != nil {
			lines = append(lines, jsonl.Scored{Origin: *rec.By()})
			continue
		}
		lines = append(lines, *recordIn[jsonl.Scored](t, line))
	}
	sum, values := 0.0, []float64{}
	for _, rec := range lines[:4] {
		var single []float64
		for _, text := range []string{rec.Text, rec.Pair.Text} {
			var one jsonl.Scored
			if err := json.Unmarshal([]byte(infillRun("", withTiny("score", "--json", text)...).out), &one); err != nil {
				t.Fatal(err)
			}
			single = append(single, *one.Score)
		}
		if d := single[0] - single[1]; math.Abs(*rec.Difference-d) > 1e-6 {
			t.Errorf("%q: %v, want %v", rec.Text, *rec.Difference, d)
		}
		sum, values = sum+*rec.Difference, append(values, *rec.Difference)
	}
	if lines[4].Error == nil || lines[4].Error.Code != "bad_json" {
		t.Errorf("without a second text: %+v", lines[4].Error)
	}
	square := 0.0
	for _, v := range values {
		square += (v - sum/4) * (v - sum/4)
	}
	half := 3.18244630528 * math.Sqrt(square/3/4) // Student's t of three degrees of freedom
	if values[0] <= 0 || values[1] >= 0 || values[2] <= 0 || values[3] != 0 {
		t.Fatalf("%v", values)
	}
	all := fmt.Sprintf("4 1 62.5 0.0–100.0 %+.2f ±%.2f all", sum/4, half)
	got := strings.Split(strings.TrimSpace(r.out), "\n")
	if len(got) != 4 || strings.Join(strings.Fields(got[1]), " ") != all {
		t.Errorf("%s\nwant %s", r.out, all)
	}
	for i, want := range []string{"2 0 50.0 0.0–100.0", "2 1 75.0 0.0–100.0"} {
		if !strings.HasPrefix(strings.Join(strings.Fields(got[2+i]), " "), want) {
			t.Errorf("%q, want %q", got[2+i], want)
		}
	}
	// What was done counts again, and without an output the table is all.
	cut := strings.Join(strings.SplitAfter(get(t, out), "\n")[:2], "")
	put(t, out, cut)
	if again := infillRun("", append(args, "-o", out, "--resume")...); again.out != r.out {
		t.Errorf("resumed: %s%s", again.out, again.err)
	}
	if table := infillRun("", args...); table.out != r.out {
		t.Errorf("%s%s", table.out, table.err)
	}
}

// Two texts can be compared by their common words, which a rare word does not disturb.
func TestPairsShared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, dir+"/pairs.csv", "a,b\nthe dog runs in the road .,the zebra runs in the road .\nshe,him\n")
	r := infillRun("", withTiny("score", in, "--pairs", "a,b", "--shared", "-o", dir+"/out.jsonl", "--quiet")...)
	first, second, _ := strings.Cut(get(t, dir+"/out.jsonl"), "\n")
	var rec jsonl.Scored
	if err := json.Unmarshal([]byte(first), &rec); err != nil || r.code != exitSomeFailed ||
		rec.Pair.Shared != 6 || len(rec.Pieces) != 6 {
		t.Errorf("exit %d %s: %s", r.code, r.err, first)
	}
	if !strings.Contains(second, "no piece in common") {
		t.Errorf("%s", second)
	}
	for _, c := range [][]string{
		{"score", "--shared", "the dog ."}, {"score", "--pairs", "a,b"}, {"score", in, "--pairs", "a"},
		{"score", in, "--pairs", "a,a"}, {"score", in, "--pairs", "a,b", "--text-field", "a"},
		{"score", in, in, "--pairs", "a,b"}, {"score", in, "--pairs", "a,b", "--shared", "--energy", "words:" + in + "=1"},
	} {
		if r := infillRun("", withTiny(c...)...); r.code != exitUsage {
			t.Errorf("%q: exit %d, %s", c, r.code, r.err)
		}
	}
}

// A blank with candidates has the difference of the logarithms of the first and the best of the
// others.
func TestCandidateDifferences(t *testing.T) {
	t.Parallel()
	const lines = "she saw a [MASK|dog|cat] in the road .\nshe saw a [MASK|cat|dog] in the road .\nthe [MASK|dog|cat|cow] .\n"
	r := infillRun(lines, withTiny("score", "--file", "-")...)
	var recs []*jsonl.Ranked
	for line := range strings.Lines(r.out) {
		recs = append(recs, recordIn[jsonl.Ranked](t, line))
	}
	if len(recs) != 3 || *recs[0].Difference != -*recs[1].Difference || recs[2].Difference == nil {
		t.Fatalf("%s%s", r.out, r.err)
	}
	three := map[string]float64{}
	for _, c := range recs[2].Candidates {
		three[c.Candidate] = c.Score
	}
	if d := three["dog"] - max(three["cat"], three["cow"]); *recs[2].Difference != d {
		t.Errorf("of three: %v, want %v", *recs[2].Difference, d)
	}
	scores := map[string]float64{}
	for _, c := range recs[0].Candidates {
		scores[c.Candidate] = c.Score
	}
	if d := scores["dog"] - scores["cat"]; *recs[0].Difference != d || !strings.Contains(r.err, " ±") {
		t.Errorf("%v, want %v: %s", *recs[0].Difference, d, r.err)
	}
}

// An n-best list has its scores in place, and the best lines are printed. What fails is said.
func TestScoreNBest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := put(t, filepath.Join(dir, "list.txt"), "a-1 the old the sleeps .\na-2 the old dog sleeps .\nwhat\n")
	out := filepath.Join(dir, "out.txt")
	r := infillRun("", withTiny("score", "--nbest", list, "-o", out)...)
	if r.code != exitSomeFailed || r.out != "a the old dog sleeps .\n" ||
		!strings.Contains(r.err, "line 3: bad row: it is neither id") {
		t.Errorf("exit %d: %q, %s", r.code, r.out, r.err)
	}
	if got := get(t, out); !regexp.MustCompile(`\Aa-1 -\d+\.\d{4}\na-2 -\d+\.\d{4}\nwhat\n\z`).MatchString(got) {
		t.Errorf("%q", got)
	}
	// A run that was cut short goes on, and prints what the whole one did.
	whole, part := get(t, out), out+".part"
	if r := infillRun("", withTiny("score", "--nbest", list, "-o", out, "--strict", "--force")...); r.code != exitStopped ||
		r.out != "" || !strings.Contains(r.err, "--resume") || strings.Count(get(t, part), "\n") != 2 {
		t.Errorf("exit %d: %q, %s", r.code, r.out, r.err)
	}
	if r := infillRun("", withTiny("score", "--nbest", list, "-o", out, "--resume", "--quiet")...); r.code != exitSomeFailed ||
		r.out != "a the old dog sleeps .\n" || get(t, out) != whole {
		t.Errorf("exit %d: %q, %s, %q", r.code, r.out, r.err, get(t, out))
	}
	for _, c := range [][2]string{
		{"--nbest " + list + " -o " + out, "the output exists"},
		{"--nbest " + list + " -o " + out + " --resume --weight 2", "--weight was 1, is 2"},
		{"--nbest " + list + " --per word", "--per goes with --file FILE"},
		{"--nbest " + list + " text", "--nbest names a file of its own"},
		{"--weight 2 text", "--weight goes with --nbest FILE"},
		{"--weight 2 --file " + list, "--weight goes with --nbest FILE"},
		{"--nbest " + filepath.Join(dir, "none"), "no such file"},
	} {
		if r := infillRun("", withTiny(append([]string{"score"}, strings.Fields(c[0])...)...)...); r.code == 0 ||
			!strings.Contains(r.err, c[1]) {
			t.Errorf("%s: exit %d, %s", c[0], r.code, r.err)
		}
	}
}
