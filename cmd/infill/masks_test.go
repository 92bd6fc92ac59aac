package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"infill/infill"
	"infill/infill/energies"
	"infill/infill/jsonl"
	"infill/mlm"
)

// encoder is the folder of a small sentence encoder with random weights.
const encoder = "../../infill/energies/testdata/encoder"

// What is masked is chosen by flags, by files, and by the fields and spans of a line.
func TestMaskChoices(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep := put(t, filepath.Join(dir, "keep.txt"), "# animals\ndog\n")
	in := put(t, filepath.Join(dir, "in.jsonl"),
		`{"text":"The dog sleeps in the house ."}
{"text":"The dog sleeps in the house .","keep_words":["house"]}
{"text":"The dog sleeps in the house .","mask_class":"all","keep_words":[]}
{"text":"The dog sleeps in the house .","spans":[{"start":4,"end":7,"label":"animal","text":"dog"}],"mask_labels":["animal"]}
{"text":"The dog sleeps in the house .","stop_words":["house","sleeps"]}
{"text":"caf\u00e9 dog","spans":[{"start":4,"end":8,"label":"animal"}],"keep_labels":["*"],"span_offsets":"bytes"}
{"text":"caf\u00e9 dog","spans":[{"start":5,"end":8,"label":"animal"}],"keep_labels":["*"],"span_offsets":"characters"}
{"text":"The dog sleeps in the house .","min_edits":1000}
`)
	r := infillRun("", withTiny("batch", in, "--mask-rate", "1", "--mask-class", "content",
		"--keep-file", keep, "--keep", "sleeps", "--chains", "2", "--steps", "2", "--seed", "1",
		"--quiet")...)
	if r.code != exitSomeFailed {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	want := []string{"house", "sleeps", "The sleeps in the house", "too_few_words", "The in the",
		"bad_span", "caf\u00e9", "filtered"}
	for i, line := range strings.Split(strings.TrimSpace(r.out), "\n") {
		var rec jsonl.Filled
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(rec.Masked, " ")
		if rec.Error != nil {
			got = rec.Error.Code
		}
		if i >= len(want) || got != want[i] {
			t.Errorf("line %d: %q: %s", i+1, got, line)
		}
		for _, f := range rec.Fillings {
			if f.Edits == nil {
				t.Errorf("line %d: no edits in %s", i+1, line)
			}
		}
	}
	for _, c := range []struct{ flags, says string }{
		{"--keep dog", "--keep goes with --mask-rate"},
		{"--mask-class content", "--mask-class goes with --mask-rate"},
		{"--keep-labels x", "--keep-labels goes with"},
		{"--max-drop 1", "--max-drop goes with"},
		{"--mask-rate 1 --no-repeat off --stop-words " + keep, "--stop-words goes with --mask-class or --no-repeat"},
		{"--mask-rate 1 --min-edits 3 --max-edits 2", "greatest edit distance 2, want at least the least, 3"},
		{"--encoder " + encoder, "--encoder goes with --mask-rate"},
		{"--mask-rate 1 --min-similarity .5", "--min-similarity goes with --encoder: it is what"},
		{"--mask-rate 1 --max-similarity .5", "--max-similarity goes with --encoder: it is what"},
		{"--mask-rate 1 --max-similarity 1.5", "a number from -1 to 1"},
		{"--mask-rate 1 --min-similarity .5 --max-similarity .4 --encoder " + encoder,
			"greatest similarity 0.4, want at least the least, 0.5"},
		{"--mask-rate 1 --encoder " + dir, "--encoder: "},
		{"--mask-rate 1 --keep-file " + filepath.Join(dir, "none"), "--keep-file"},
		{"--mask-file " + keep, "--mask-file goes with --mask-rate"},
		{"--mask-rate 1 --mask-file " + filepath.Join(dir, "none"), "--mask-file"},
		{"--mask-rate 1 --keep -", `--keep: bad option: the word "-"`},
	} {
		r := infillRun("", withTiny(append([]string{"fill", "the dog sleeps ."},
			strings.Fields(c.flags)...)...)...)
		if r.code == 0 || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: exit %d, %s", c.flags, r.code, r.err)
		}
	}
}

// With --mask-file the words of the file are masked, and a line without any stays as it is.
func TestMaskFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := put(t, filepath.Join(dir, "words.txt"), "dog\nthe house\n")
	in := put(t, filepath.Join(dir, "in.txt"), "The dog sleeps in the house .\nThe old man sleeps .\n")
	for command, want := range map[string]string{
		"batch":   `"masked":["dog","the","house"] "left":"words"`,
		"augment": `"masked":["dog"] "masked":["house"] "variant":0`,
	} {
		args := withTiny(command, in, "--mask-file", list, "--seed", "1", "--quiet", "--output-format", "jsonl")
		if command == "batch" {
			args = append(args, "--mask-rate", "1")
		} else {
			args = append(args, "--mask-words", "1", "--variants", "2")
		}
		r := infillRun("", args...)
		got := strings.Join(regexp.MustCompile(`"masked":\[.*?\]|"left":"\w+"|"variant":0`).FindAllString(r.out, -1), " ")
		if r.code != 0 || got != want {
			t.Errorf("%s: exit %d, %q: %s%s", command, r.code, got, r.out, r.err)
		}
	}
}

// A drop is measured by the scores that infill score prints.
func TestMaxDropIsScored(t *testing.T) {
	t.Parallel()
	const text = "the dog sleeps in the house ."
	args := []string{"fill", text, "--mask-words", "2", "--seed", "3", "--json", "--chains", "30",
		"--steps", "4", "--temperature", "4", "--top", "30", "--score", "pll", "--max-drop"}
	run := func(drop string) jsonl.Filled {
		r := infillRun("", withTiny(append(args, drop)...)...)
		var rec jsonl.Filled
		if err := json.Unmarshal([]byte(r.out), &rec); err != nil || r.code != 0 {
			t.Fatalf("exit %d, %v: %s", r.code, err, r.err)
		}
		return rec
	}
	all := run("1000")
	r := infillRun("", withTiny("score", "--json", text)...)
	var scored jsonl.Scored
	if err := json.Unmarshal([]byte(r.out), &scored); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	at, moved := 0, 0
	for _, w := range all.Masked { // in the order of the blanks
		at = strings.Index(all.Text[at:], "[MASK]") + at
		for _, p := range scored.Pieces {
			if from := at + moved; p.Span[0] >= from && p.Span[1] <= from+len(w) {
				sum += p.LogProb
			}
		}
		moved += len(w) - len("[MASK]")
		at++
	}
	if d := *all.OriginalScore - sum; d > 1e-4 || d < -1e-4 {
		t.Fatalf("the original scores %v, infill score says %v", *all.OriginalScore, sum)
	}
	middle := *all.Fillings[len(all.Fillings)/2].Score
	some := run(jsonNumber(sum - middle - 1e-3))
	n := 0
	for _, f := range all.Fillings {
		if *f.Score >= middle+1e-3 {
			n++
		}
	}
	if len(some.Fillings) != n || n == 0 || n == len(all.Fillings) {
		t.Errorf("%d fillings, want %d of %d", len(some.Fillings), n, len(all.Fillings))
	}
}

func jsonNumber(x float64) string {
	b, _ := json.Marshal(x)
	return string(b)
}

// A similarity is the cosine that the encoder says of the variant and its text. Bounds on it hold,
// those of a line before those of the command, and another encoder is another run.
func TestSimilarityOfVariants(t *testing.T) {
	t.Parallel()
	enc, err := energies.OpenEncoder(t.Context(), encoder, mlm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = enc.Close() }()
	cosine := func(a, b string) float64 {
		v := make([]float64, 1)
		if err := enc.Values(t.Context(), []infill.Finished{{Text: a, Spans: [][2]int{{0, len(a)}},
			Original: []string{b}}}, v); err != nil {
			t.Fatal(err)
		}
		return v[0]
	}
	dir := t.TempDir()
	const text = `{"text":"The big dog sleeps in the old house."`
	run := func(lines string, flags ...string) []map[string]any {
		r := augmentTiny(append([]string{put(t, filepath.Join(dir, "in.jsonl"), lines), "--quiet",
			"--variants", "8", "--encoder", encoder}, flags...)...)
		if r.code != 0 {
			t.Fatalf("exit %d: %s", r.code, r.err)
		}
		return augmented(t, r.out)
	}
	least, most := 1.0, -1.0
	for _, row := range run(text + "}\n") {
		v := row["similarity"].(float64)
		if want := cosine(row["text"].(string), row["original"].(string)); math.Abs(v-want) > 1e-6 {
			t.Errorf("%v: %v, want %v", row["text"], v, want)
		}
		least, most = min(least, v), max(most, v)
	}
	if !(least < most) {
		t.Fatalf("all have the similarity %v: the test says nothing", least)
	}
	middle := (least + most) / 2
	rows := run(text+"}\n"+text+`,"min_similarity":-1,"max_similarity":`+jsonNumber(middle)+"}\n",
		"--min-similarity", jsonNumber(middle))
	sides := map[bool]int{}
	for _, row := range rows {
		v, first := row["similarity"].(float64), row["line"] == 1.0
		if sides[first]++; first != (v >= middle) {
			t.Errorf("line %v: %v", row["line"], v)
		}
	}
	if len(sides) != 2 {
		t.Errorf("rows %v", sides)
	}
	// Resuming needs the same encoder, wherever it lies.
	in, out := put(t, filepath.Join(dir, "one.jsonl"), text+"}\n"), filepath.Join(dir, "out.jsonl")
	resumed := func(folder string) outcome {
		return augmentTiny(in, "-o", out, "--resume", "--quiet", "--encoder", folder)
	}
	if r := resumed(encoder); r.code != 0 {
		t.Fatal(r.err)
	}
	moved := filepath.Join(dir, "encoder")
	if err := os.CopyFS(moved, os.DirFS(encoder)); err != nil {
		t.Fatal(err)
	}
	if r := resumed(moved); r.code != 0 {
		t.Errorf("a moved encoder: %s", r.err)
	}
	put(t, filepath.Join(moved, "tokenizer_config.json"), `{"do_lower_case": false}`)
	if r := resumed(moved); r.code != exitUsage || !strings.Contains(r.err, "encoder") {
		t.Errorf("another encoder: exit %d: %s", r.code, r.err)
	}
}
