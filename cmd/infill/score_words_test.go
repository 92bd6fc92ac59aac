package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"infill/infill/jsonl"
)

// A file has a row for each word in every form, with the scores that records have.
func TestScorePerWord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, dir+"/in.csv", "k,text\nx,\"the dogs, sleeping .\"\ny,\n")
	records := infillRun("", withTiny("score", "--file", in, "--words", "--quiet")...)
	var rec jsonl.Scored
	first, _, _ := strings.Cut(records.out, "\n")
	if err := json.Unmarshal([]byte(first), &rec); err != nil || len(rec.Words) != 5 {
		t.Fatalf("%v: %s", err, records.out)
	}
	dogs := rec.Words[1]
	if dogs.Word != "dogs" || dogs.Pieces != "dog ##s" || dogs.Start != 4 || dogs.EndChar != 8 ||
		math.Abs(*dogs.Score+*dogs.Surprisal*math.Ln2) > 1e-12 {
		t.Errorf("%+v", dogs)
	}
	r := infillRun("", withTiny("score", "--file", in, "--per", "word", "-o", dir+"/out.csv", "--quiet")...)
	rows, err := csv.NewReader(strings.NewReader(get(t, dir+"/out.csv"))).ReadAll()
	if r.code != exitOK || err != nil || len(rows) != 7 {
		t.Fatalf("exit %d %s, %v, %q", r.code, r.err, err, rows)
	}
	head := "k text line word label start end start_char end_char pieces surprisal_bits score error error_message"
	if got := strings.Join(rows[0], " "); got != head {
		t.Errorf("%s", got)
	}
	if rows[2][0] != "x" || rows[2][3] != "dogs" || rows[2][9] != "dog ##s" || rows[6][0] != "y" || rows[6][3]+rows[6][12] != "" {
		t.Errorf("%q", rows)
	}
	for _, c := range [][]string{
		{"batch", in, "--per", "word"}, {"score", "--file", in, "--per", "filling"},
		{"score", "--per", "word", "the dog ."}, {"score", "--json", "--bits", "the dog ."},
	} {
		if r := infillRun("", withTiny(c...)...); r.code != exitUsage {
			t.Errorf("%q: exit %d, %s", c, r.code, r.err)
		}
	}
}

// Words that are lines keep their cutting and their columns, from JSON and to JSON too, and their
// regions are sums.
func TestScoreWordsOfLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, dir+"/in.jsonl", `{"w":"the","s":1,"t":3}`+"\n"+`{"w":"dog's","s":1,"t":4.5}`+"\n"+`{"w":"sleeps","s":2}`+"\n")
	r := infillRun("", withTiny("score", "--file", in, "--text-field", "w", "--sentence", "s", "--per", "word", "-o",
		dir+"/out.jsonl", "--quiet")...)
	lines := strings.Split(strings.TrimSpace(get(t, dir+"/out.jsonl")), "\n")
	if r.code != exitOK || len(lines) != 3 {
		t.Fatalf("exit %d, %s: %q", r.code, r.err, lines)
	}
	for i, want := range []string{`{"w":"the","s":1,"t":3,"line":1,"word":"the",`,
		`{"w":"dog's","s":1,"t":4.5,"line":1,"word":"dog's",`, `{"w":"sleeps","s":2,"line":3,"word":"sleeps",`} {
		if !strings.HasPrefix(strings.Replace(lines[i], `"t":null,`, "", 1), want) {
			t.Errorf("%s, want %s", lines[i], want)
		}
	}
	text := `{"text":["the","dog's","house"],"spans":[{"start":4,"end":15,"label":"np"}],"words":true}`
	r = infillRun(text+"\n", withTiny("score", "--file", "-", "--quiet")...)
	var rec jsonl.Scored
	if err := json.Unmarshal([]byte(r.out), &rec); err != nil || len(rec.Words) != 3 || len(rec.Regions) != 1 {
		t.Fatalf("%v, %s", err, r.out)
	}
	sum := *rec.Words[1].Score + *rec.Words[2].Score
	if g := rec.Regions[0]; g.Label != "np" || g.Word != "dog's house" || math.Abs(*g.Score-sum) > 1e-9 {
		t.Errorf("%+v, want %v", g, sum)
	}
	regions := put(t, dir+"/regions.jsonl", text+"\n")
	r = infillRun("", withTiny("score", "--file", regions, "--per", "word", "-o", dir+"/regions.csv", "--quiet")...)
	rows, err := csv.NewReader(strings.NewReader(get(t, dir+"/regions.csv"))).ReadAll()
	if err != nil || r.code != exitOK || len(rows) != 5 {
		t.Fatalf("exit %d %s, %v, %q", r.code, r.err, err, rows)
	}
	at := slices.Index(rows[0], "label")
	if last := rows[4]; last[at-1] != "dog's house" || last[at] != "np" || rows[3][at] != "" ||
		!slices.Contains(last, fmt.Sprint(*rec.Regions[0].Score)) {
		t.Errorf("%q, want the region %+v", rows, rec.Regions[0])
	}
}
