package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"infill/infill/jsonl"
	"infill/internal/testmode"
)

// A document of 1,500 words with 22 blanks, in the long run 40, has a record that says its groups. A
// text beside it that fits has the record that it has alone.
func TestBatchLong(t *testing.T) {
	t.Parallel()
	every, blanks := 6, 22
	if testmode.All() {
		every, blanks = 3, 40
	}
	places := []string{"market", "river", "station", "church", "school", "garden", "hospital"}
	var words []string
	for i := range 114 {
		place := places[i%len(places)]
		if i%every == 1 || i > 111 || i == 0 {
			place = "[MASK]"
		}
		words = append(words, fmt.Sprintf("On day %d we went to the %s and thought of old times .", i, place))
	}
	long, short := strings.Join(words, " "), "We went to the [MASK] and then we [MASK] home."
	run := func(lines ...string) []string {
		r := infillRun(strings.Join(lines, "\n")+"\n", "batch", "--model", "small", "--rows", "100", "-")
		out := strings.Split(strings.TrimSpace(r.out), "\n")
		if r.code != 0 || len(out) != len(lines) {
			t.Fatalf("exit %d, %d records: %s", r.code, len(out), r.err)
		}
		return out
	}
	both := run(short, long)
	if alone := run(short)[0]; both[0] != alone || strings.Contains(alone, "groups") {
		t.Errorf("the short text has\n%s\nand alone\n%s", both[0], alone)
	}
	var rec jsonl.Filled
	if err := json.Unmarshal([]byte(both[1]), &rec); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, n := range rec.Groups {
		sum += n
	}
	if n := strings.Count(long, "[MASK]"); n != blanks || sum != n || len(rec.Groups) < 3 ||
		len(strings.Fields(long)) < 1450 || slices.Min(rec.Groups) < 1 {
		t.Errorf("%d blanks in groups %v", n, rec.Groups)
	}
	if strings.Contains(rec.Best, "[MASK]") || len(strings.Fields(rec.Best)) != len(strings.Fields(long)) {
		t.Errorf("%q", rec.Best)
	}
	if rec.Window != nil || len(rec.Fillings) != 5 || len(rec.Fillings[4].Spans) != blanks {
		t.Errorf("window %v, %d fillings", rec.Window, len(rec.Fillings))
	}
}

// A document that is longer than the model has variants whose blanks lie all over it.
func TestAugmentLong(t *testing.T) {
	t.Parallel()
	text := strings.TrimSpace(strings.Repeat("the big dog saw a small cat near the house . ", 20))
	in := put(t, filepath.Join(t.TempDir(), "in.jsonl"), fmt.Sprintf("{\"text\":%q}\n", text))
	out := in + ".out.jsonl"
	r := infillRun("", withTiny("augment", "--mask-rate", "0.1", "--variants", "2", "--rows", "50",
		"--seed", "1", "-o", out, in)...)
	lines := strings.Split(strings.TrimSpace(get(t, out)), "\n")
	if r.code != 0 || len(lines) != 2 {
		t.Fatalf("exit %d, %.300q: %s", r.code, lines, r.err)
	}
	for _, line := range lines {
		var row struct {
			Text           string   `json:"text"`
			Masked         []string `json:"masked"`
			Filled         []string `json:"filled"`
			Spans          [][2]int `json:"filled_spans"`
			Edits, Changed int
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		n := len(row.Masked)
		if n < 10 || len(row.Filled) != n || len(row.Spans) != n || row.Edits < 1 ||
			row.Spans[n-1][1]-row.Spans[0][0] < len(text)/2 {
			t.Fatalf("%s", line)
		}
		back := row.Text
		for i := n - 1; i >= 0; i-- {
			if s := row.Spans[i]; back[s[0]:s[1]] != row.Filled[i] {
				t.Errorf("%q is not at %v", row.Filled[i], s)
			} else {
				back = back[:s[0]] + row.Masked[i] + back[s[1]:]
			}
		}
		if back != text {
			t.Errorf("with the words before it is %q", back)
		}
	}
}
