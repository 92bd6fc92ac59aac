package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// augmentTiny runs infill augment on the tiny model.
func augmentTiny(args ...string) outcome {
	return infillRun("", withTiny(append([]string{"augment", "--chains", "4", "--steps", "4", "--seed",
		"5"}, args...)...)...)
}

// augmented are the rows of an output in JSON lines.
func augmented(t *testing.T, text string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		out = append(out, row)
	}
	return out
}

// distance is Levenshtein's by its recursion.
func distance(a, b []rune) int {
	before := make([]int, len(b)+1)
	for j := range before {
		before[j] = j
	}
	for i := range a {
		now := []int{i + 1}
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			now = append(now, min(before[j]+cost, before[j+1]+1, now[j]+1))
		}
		before = now
	}
	return before[len(b)]
}

// Every row has a variant in the place of the text and all other fields as they were. Distances and
// scores of the variants are measured again.
func TestAugment(t *testing.T) {
	t.Parallel()
	in := put(t, filepath.Join(t.TempDir(), "in.jsonl"), `{"sentence":"The big dog sleeps in the house.","label":"calm","n":{"a":1}}
{"sentence":"the old bear saw the small fish in the river","label":"wild","id":"x","variants":2,"keep_words":["bear"]}
{"sentence":"is it","label":"none"}
{"sentence":"the red fox runs","label":"wild","variants":0}
`)
	r := augmentTiny(in, "--text-field", "sentence", "--variants", "3", "--max-drop", "30", "--quiet")
	if r.code != exitSomeFailed {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	rows := augmented(t, r.out)
	want := []string{"calm 1", "calm 2", "calm 3", "wild 1", "wild 2", "none too_few_words",
		"wild bad_option"}
	scored := infillRun("", withTiny("score", "--json", "The big dog sleeps in the house.")...)
	for i, row := range rows {
		got := fmt.Sprint(row["label"], " ", row["variant"])
		if row["error"] != nil {
			got = fmt.Sprint(row["label"], " ", row["error"])
		}
		if i >= len(want) || got != want[i] {
			t.Errorf("row %d: %s", i+1, got)
		}
		if row["error"] != nil {
			continue
		}
		text, original := row["sentence"].(string), row["original"].(string)
		a, b := []rune(strings.ToLower(text)), []rune(strings.ToLower(original))
		if d := distance(a, b); float64(d) != row["edits"] || d == 0 {
			t.Errorf("%q of %q: %v edits, want %d", text, original, row["edits"], d)
		}
		back := row["blanked"].(string)
		for k, w := range row["filled"].([]any) {
			if row["masked"].([]any)[k] == "bear" {
				t.Error("a word to keep was masked")
			}
			back = strings.Replace(back, "[MASK]", w.(string), 1)
		}
		if back != text {
			t.Errorf("%q filled gives %q, not %q", row["blanked"], back, text)
		}
		if row["original_score"].(float64)-30 > row["score"].(float64) {
			t.Errorf("%q scores too low", text)
		}
		if i < 3 { // the score of the masked words is the sum of their pieces'
			pieces := scores(t, scored.out, row["masked"].([]any))
			if d := pieces - row["original_score"].(float64); d > 1e-4 || d < -1e-4 {
				t.Errorf("the original scores %v, want %v", row["original_score"], pieces)
			}
			again := infillRun("", withTiny("score", "--json", text)...)
			if d := scores(t, again.out, row["filled"].([]any)) - row["score"].(float64); d > 1e-4 ||
				d < -1e-4 {
				t.Errorf("%q scores %v, not %v by infill score", text, row["score"], d)
			}
		}
	}
	if m, _ := json.Marshal(rows[0]["n"]); string(m) != `{"a":1}` || rows[3]["id"] != "x" {
		t.Errorf("fields are lost: %v", rows[0])
	}
}

// scores is the sum over the pieces of words that infill score prints, each word once in its text.
func scores(t *testing.T, record string, words []any) float64 {
	t.Helper()
	var rec struct {
		Pieces []struct {
			Piece   string
			LogProb float64 `json:"log_prob"`
		}
	}
	if err := json.Unmarshal([]byte(record), &rec); err != nil {
		t.Fatalf("%v in %s", err, record)
	}
	sum := 0.0
	for _, w := range words {
		n := 0
		for _, p := range rec.Pieces {
			if p.Piece == strings.ToLower(w.(string)) {
				sum += p.LogProb
				n++
			}
		}
		if n != 1 {
			t.Fatalf("%v stands %d times in %s", w, n, record)
		}
	}
	return sum
}

// sameLines are many lines, most of them alike, so that they want the same variants. One in the
// middle fails.
func sameLines() string {
	var b strings.Builder
	for i := range 24 {
		switch {
		case i == 13:
			b.WriteString("is it,0\n")
		case i%4 == 3:
			fmt.Fprintf(&b, "the old bear eats the %s,%d\n", []string{"apple", "plum"}[i/4%2], i)
		default:
			fmt.Fprintf(&b, "The dog sleeps.,%d\n", i)
		}
	}
	return "text,label\n" + b.String()
}

// No two variants of a file are the same, and none is a line before. The bytes do not depend on
// threads, nor on where a run was stopped.
func TestAugmentUnique(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.csv"), sameLines())
	file := func(name string) string { return filepath.Join(dir, name) }
	run := func(want int, args ...string) outcome {
		t.Helper()
		r := augmentTiny(append([]string{in, "--extra-rounds", "6"}, args...)...)
		if r.code != want {
			t.Fatalf("%q: exit %d: %s", args, r.code, r.err)
		}
		return r
	}
	r := run(exitSomeFailed, "-o", file("one.csv"), "--threads", "1")
	if !strings.Contains(r.err, "variants, ") || !strings.Contains(r.err, " missing") {
		t.Errorf("no word of what is missing: %s", r.err)
	}
	whole := get(t, file("one.csv"))
	seen, lines := map[string]bool{}, map[string]bool{}
	missing, alike := 0, 0
	for _, row := range cellsOf(t, whole) {
		lines[row["original"]] = true
		key := strings.ToLower(row["text"])
		if row["error"] == "" && (seen[key] || lines[row["text"]]) {
			t.Errorf("%q again", row["text"])
		}
		seen[key] = true
		if row["missing"] != "0" && row["error"] == "" {
			missing++
		}
		if row["error"] == "filtered" {
			alike++
		}
	}
	if missing == 0 && alike == 0 {
		t.Error("no line went short: the test says nothing")
	}
	run(exitSomeFailed, "-o", file("four.csv"), "--threads", "4", "--quiet")
	if get(t, file("four.csv")) != whole {
		t.Error("four threads write other bytes than one")
	}
	// Stopped before the line that fails, and torn on top of that.
	run(exitStopped, "-o", file("cut.csv"), "--strict", "--quiet")
	part := file("cut.csv.part")
	b := get(t, part)
	if n := strings.Count(b, "\n"); n < 5 {
		t.Fatalf("%d records", n)
	}
	if err := os.WriteFile(part, []byte(b[:len(b)-40]), 0o666); err != nil {
		t.Fatal(err)
	}
	r = run(exitSomeFailed, "-o", file("cut.csv"), "--resume")
	if get(t, file("cut.csv")) != whole {
		t.Error("a run that goes on writes other bytes")
	}
	if !strings.Contains(r.err, strings.TrimSpace(summaryOf(run(exitSomeFailed, "-o", file("again.csv"),
		"--quiet=false").err))) {
		t.Errorf("another summary: %s", r.err)
	}
	// With repeats a line does not know of the others.
	run(exitSomeFailed, "-o", file("repeats.csv"), "--repeats", "--quiet")
	texts := map[string]int{}
	for _, row := range cellsOf(t, get(t, file("repeats.csv"))) {
		texts[row["text"]]++
	}
	if len(texts) == len(cellsOf(t, get(t, file("repeats.csv")))) {
		t.Error("no repeats: the test says nothing")
	}
	// Other settings are not gone on with.
	r = augmentTiny(in, "-o", file("cut.csv"), "--resume", "--extra-rounds", "7")
	if r.code != exitUsage || !strings.Contains(r.err, "extra-rounds") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// A finished run that is resumed makes nothing, and says nothing of variants.
func TestAugmentFinished(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.txt"), "the old dog sleeps in the house .\n")
	args := []string{in, "-o", filepath.Join(dir, "out.jsonl"), "-n", "2"}
	for _, c := range []struct{ flag, says string }{
		{"--force", "infill: 2 variants\n"}, {"--resume", "no summary"},
	} {
		r := augmentTiny(append(args, c.flag)...)
		if r.code != exitOK || summaryOf(r.err) != c.says {
			t.Errorf("%s: exit %d: %s", c.flag, r.code, r.err)
		}
	}
	r := augmentTiny(put(t, filepath.Join(dir, "b.txt"), "the [MASK] sleeps .\n"))
	if r.code != exitSomeFailed || !strings.Contains(r.err, "a backslash before a blank makes text of it") {
		t.Errorf("a text with a blank: exit %d: %s", r.code, r.err)
	}
}

// summaryOf is the line that counts variants.
func summaryOf(err string) string {
	for line := range strings.Lines(err) {
		if strings.Contains(line, " variant") {
			return line
		}
	}
	return "no summary"
}

// Spans move with a text whose escaped blank loses its backslash.
func TestAugmentSpansAfterEscape(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]string{`"start":12,"end":15`: `"start":11,"end":14`,
		`"start":0,"end":3`: `"start":0,"end":3`} {
		in := put(t, filepath.Join(t.TempDir(), "in.jsonl"),
			`{"text":"the \\[MASK] dog sleeps .","spans":[{`+at+`,"label":"animal"}]}`+"\n")
		r := augmentTiny(in, "--mask-words", "1", "-n", "1")
		if !strings.Contains(r.out, want) || r.code != exitOK {
			t.Errorf("%s: exit %d: %s%s", at, r.code, r.out, r.err)
		}
	}
}

// Spans move with the words around them, and the table formats agree.
func TestAugmentSpans(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const spans = `[{"start":4,"end":7,"label":"animal","text":"dog"},{"start":22,"end":27,"label":"place"}]`
	in := put(t, filepath.Join(dir, "in.jsonl"),
		`{"text":"the dog sleeps in the house .","label":1,"spans":`+spans+"}\n")
	args := []string{"--keep-labels", "animal", "--mask-rate", "1", "-n", "4"}
	r := augmentTiny(append([]string{in}, args...)...)
	if r.code != exitOK {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	moved := 0
	for _, row := range augmented(t, r.out) {
		text := row["text"].(string)
		list := row["spans"].([]any)
		animal, place := list[0].(map[string]any), list[1].(map[string]any)
		at := func(s map[string]any) string {
			return text[int(s["start"].(float64)):int(s["end"].(float64))]
		}
		if at(animal) != "dog" || animal["text"] != "dog" {
			t.Errorf("%q: %v", text, animal)
		}
		filled := row["filled"].([]any)
		if at(place) != filled[len(filled)-1] {
			t.Errorf("%q: %v", text, place)
		}
		if place["start"] != 22.0 {
			moved++
		}
	}
	if moved == 0 {
		t.Error("no span moved: the test says nothing")
	}
	// A table has the list as JSON, and so has a table made of a table.
	table := put(t, filepath.Join(dir, "in.csv"), "text,spans\n"+
		"the dog sleeps in the house .,\""+strings.ReplaceAll(spans, `"`, `""`)+"\"\n")
	parquet, out := filepath.Join(dir, "one.parquet"), filepath.Join(dir, "out.csv")
	for _, step := range [][]string{{table, "-o", filepath.Join(dir, "first.csv")},
		{table, "-o", parquet}, {parquet, "-o", filepath.Join(dir, "two.parquet")},
		{filepath.Join(dir, "two.parquet"), "-o", out}} {
		if r := augmentTiny(append(step, append(args, "--quiet", "--originals")...)...); r.code > 1 {
			t.Fatalf("%q: exit %d: %s", step, r.code, r.err)
		}
	}
	for _, name := range []string{"first.csv", "out.csv"} {
		for i, row := range cellsOf(t, get(t, filepath.Join(dir, name))) {
			var list []struct{ Start, End int }
			err := json.Unmarshal([]byte(row["spans"]), &list)
			if err != nil || row["text"][list[0].Start:list[0].End] != "dog" {
				t.Errorf("%s, row %d: %q, %s: %v", name, i, row["text"], row["spans"], err)
			}
		}
	}
	if b := get(t, filepath.Join(dir, "first.csv")); !bytes.Contains([]byte(b), []byte(",0,")) {
		t.Errorf("no original in %s", b)
	}
}

func TestAugmentErrors(t *testing.T) {
	t.Parallel()
	in := put(t, filepath.Join(t.TempDir(), "in.txt"), "the [MASK] sleeps\n")
	for _, c := range []struct {
		flags, says string
		code        int
	}{
		{"--variants 0", "1 to 1000", exitUsage},
		{"--mask-rate 0", "no words are to be masked: --mask-rate 0.3", exitUsage},
		{"--marginals", "no flag --marginals", exitUsage},
		{"--mask-rate 0.5 --mask-words 2", "--mask-rate and --mask-words", exitUsage},
		{"--top 3", "top", exitUsage},
		{"--mask-words 1", "without blanks", exitSomeFailed},
	} {
		r := augmentTiny(append([]string{in}, strings.Fields(c.flags)...)...)
		if r.code != c.code || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: exit %d, %s", c.flags, r.code, r.err)
		}
	}
	// A line cannot ask for what variants have not.
	in = put(t, filepath.Join(t.TempDir(), "in.jsonl"), `{"text":"the big dog sleeps","top":null}
{"text":"the big dog sleeps","top":3}
{"text":"the big dog sleeps","marginals":true}
`)
	rows := augmented(t, augmentTiny(in, "--variants", "1", "--quiet").out)
	for i, says := range []string{"", `"top"`, `"marginals"`} {
		got, _ := rows[i]["error_message"].(string)
		if i > 0 && rows[i]["error"] != "bad_option" || !strings.Contains(got, says) || (got == "") != (says == "") {
			t.Errorf("line %d: %v, %q", i+1, rows[i]["error"], got)
		}
	}
}

// A masked word comes back as itself only if that is asked for, and each row tells how many were
// masked and changed.
func TestAugmentChangesEveryPlace(t *testing.T) {
	t.Parallel()
	in := put(t, filepath.Join(t.TempDir(), "in.txt"), "the big dog sleeps in the old house\n"+
		"The Bear eats the big apple.\n")
	for distance, all := range map[string]bool{"": true, "0": false} {
		args := []string{in, "--mask-rate", "0.6", "--mask-class", "all", "-n", "6", "--quiet"}
		if distance != "" {
			args = append(args, "--min-distance", distance)
		}
		back := 0
		for _, row := range augmented(t, augmentTiny(args...).out) {
			changed := 0
			masked := row["masked"].([]any)
			for i, w := range row["filled"].([]any) {
				if !strings.EqualFold(w.(string), masked[i].(string)) {
					changed++
				}
			}
			if row["masked_places"] != float64(len(masked)) || row["changed_places"] != float64(changed) ||
				changed == 0 {
				t.Errorf("%d of %d changed: %v", changed, len(masked), row)
			}
			back += len(masked) - changed
		}
		if all != (back == 0) {
			t.Errorf("--min-distance %q: %d words came back", distance, back)
		}
	}
}

// Words are put in between others, or taken out where the sentence can do without, and the rest
// stays. Labelled spans move along.
func TestAugmentActions(t *testing.T) {
	t.Parallel()
	const text = "the big old dog sleeps in the red house ."
	in := put(t, filepath.Join(t.TempDir(), "in.jsonl"), `{"text":"`+text+
		`","spans":[{"start":8,"end":15,"label":"animal","text":"old dog"}]}`+"\n")
	for action, longer := range map[string]bool{"insert": true, "delete": false} {
		args := []string{in, "--action", action, "--mask-words", "2", "--mask-class", "all",
			"--keep-labels", "*", "-n", "4"}
		if !longer {
			args = append(args, "--max-drop", "0.5")
		}
		r := augmentTiny(args...)
		if r.code != exitOK {
			t.Fatalf("%s: exit %d: %s", action, r.code, r.err)
		}
		for _, row := range augmented(t, r.out) {
			got := strings.Fields(row["text"].(string))
			masked, filled := row["masked"].([]any), row["filled"].([]any)
			few, many := strings.Fields(text), got
			if !longer {
				few, many = many, few
			}
			if len(many) != len(few)+2 || len(masked) != 2 || len(filled) != 2 ||
				row["changed_places"] != 2.0 || !within(few, many) {
				t.Errorf("%s: %v", action, row)
			}
			if longer != (masked[0] == "" && filled[0] != "") {
				t.Errorf("%s: %q became %q", action, masked, filled)
			}
			if d := distance([]rune(text), []rune(row["text"].(string))); float64(d) != row["edits"] {
				t.Errorf("%s: %v edits, want %d", action, row["edits"], d)
			}
			span := row["spans"].([]any)[0].(map[string]any)
			at := row["text"].(string)[int(span["start"].(float64)):int(span["end"].(float64))]
			if at != "old dog" || span["text"] != at {
				t.Errorf("%s: the span is %q now: %v", action, at, row)
			}
			if longer {
				continue
			}
			whole := perToken(t, text)
			if left := perToken(t, row["text"].(string)); left < whole-0.5 {
				t.Errorf("%q scores %v per token, the whole %v", row["text"], left, whole)
			}
		}
	}
}

// within reports whether the words of one text are among those of another, in order.
func within(few, many []string) bool {
	for _, w := range many {
		if len(few) > 0 && few[0] == w {
			few = few[1:]
		}
	}
	return len(few) == 0
}

// perToken is the blended score per token that infill score prints.
func perToken(t *testing.T, text string) float64 {
	t.Helper()
	var rec struct {
		ScorePerToken float64 `json:"score_per_token"`
	}
	r := infillRun("", withTiny("score", "--json", "--score", "blended", text)...)
	if err := json.Unmarshal([]byte(r.out), &rec); err != nil {
		t.Fatalf("%v in %s%s", err, r.out, r.err)
	}
	return rec.ScorePerToken
}

// Variants of a text are printed as fillings are.
func TestAugmentText(t *testing.T) {
	t.Parallel()
	const text = "the big old dog sleeps ."
	r := augmentTiny(text, "-n", "3", "--mask-words", "1", "--seed", "1")
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if r.code != exitOK || len(lines) != 3 {
		t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
	}
	for _, line := range lines {
		variant := strings.Join(strings.Fields(line)[1:], " ")
		if !strings.HasSuffix(variant, ".") || variant == text || len(strings.Fields(variant)) != 6 {
			t.Errorf("%q", line)
		}
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{text, "-o", "x.csv"}, exitUsage, "taken for a text"},
		{[]string{"the [MASK] sleeps ."}, exitUsage, "without blanks"},
		{[]string{"no file.csv"}, exitTrouble, "no such file"},
		{[]string{text, "--action", "insert", "--max-drop", "1"}, exitUsage, "--max-drop is about"},
		{[]string{text, "--action", "swap"}, exitUsage, "substitute"},
	} {
		r := augmentTiny(c.args...)
		if r.code != c.code || !strings.Contains(r.err, c.says) {
			t.Errorf("%q: exit %d: %s", c.args, r.code, r.err)
		}
	}
}

// A table has each original and all of its variants, whatever the number of blanks.
func TestAugmentedTable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.csv"), "text,label\nthe big dog sleeps in the house,a\n"+
		"the old bear saw the small fish,b\n")
	out := filepath.Join(dir, "out.csv")
	r := infillRun("", withTiny("augment", in, "-o", out, "--originals", "--variants", "3",
		"--mask-words", "2", "--seed", "1", "--quiet")...)
	if r.code != exitOK {
		t.Fatal(r.err)
	}
	if n := strings.Count(get(t, out), "\n"); n != 1+2*4 {
		t.Errorf("%d lines, want a header and four for each text:\n%s", n, get(t, out))
	}
}
